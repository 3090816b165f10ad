"""The frames of a video, as OpenCV reads it."""

import cv2

__all__ = ["VIDEOS", "Video"]

VIDEOS = (".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm")


class Video:
    """A video whose frames are asked for in their order, some left out or not.

    Parameters
    ----------
    path : path-like

    Attributes
    ----------
    count : int
        How many frames it has.
    """

    def __init__(self, path):
        self._path, self._next = path, 0
        self._open()
        self.count = 0
        while self._reader.grab():  # what the header says is often wrong
            self.count += 1
        if not self.count:
            raise ValueError(
                f"{path} has no frame that OpenCV can read; expected a video, or a folder of frames"
            )
        self._open()

    def frame(self, number):
        """Return a frame: rows×columns×3 of uint8, red, green and blue."""
        if number < self._next:
            self._open()
        while self._next < number:
            self._reader.grab()
            self._next += 1
        there, image = self._reader.read()
        self._next += 1
        if not there:
            raise ValueError(f"{self._path}: frame {number} cannot be read")
        return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)

    def _open(self):
        self._reader, self._next = cv2.VideoCapture(str(self._path)), 0
        if not self._reader.isOpened():
            raise ValueError(f"{self._path} cannot be read as a video; expected one that OpenCV reads")
