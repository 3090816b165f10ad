"""Work in the background of which only the latest request counts."""

import threading


class Superseded(Exception):
    """Raised inside work that nobody waits for any more."""


class Latest:
    """Answer requests in a thread, one at a time, and only the newest.

    A request that comes while another is worked on replaces the one that waits, if any, and asks the one at
    work to stop. So there is never a queue, and what is delivered belongs to the newest request.

    Parameters
    ----------
    work : callable
        ``work(request, check)`` returns the answer. It may call ``check``, with any arguments, from time to
        time: this raises :class:`Superseded` when there is a newer request.
    deliver : callable
        ``deliver(number, answer)`` is called in the thread; an exception of ``work`` is an answer too. Who
        passes the answer on to another thread asks :meth:`is_newest` again there.

    Examples
    --------
    >>> answers = []
    >>> latest = Latest(lambda request, check: 2 * request, lambda number, answer: answers.append(answer))
    >>> number = latest.submit(21)
    >>> latest.wait(10)
    True
    >>> answers
    [42]
    """

    def __init__(self, work, deliver):
        self._work, self._deliver = work, deliver
        self._condition = threading.Condition()
        self._newest, self._waiting, self._running = 0, None, False

    def submit(self, request):
        """Ask for an answer, and return the number of this request."""
        with self._condition:
            self._newest += 1
            self._waiting = self._newest, request
            if not self._running:
                self._running = True
                # A daemon, so that a session ends although its last request was never answered.
                threading.Thread(target=self._run, name="normint panel", daemon=True).start()
            return self._newest

    def is_newest(self, number):
        """Tell whether no request came after this one."""
        return number == self._newest

    def wait(self, timeout=None):
        """Wait until nothing is left to do, and tell whether that is so."""
        with self._condition:
            return self._condition.wait_for(lambda: not self._running, timeout)

    def _run(self):
        while True:
            with self._condition:
                if self._waiting is None:
                    self._running = False
                    self._condition.notify_all()
                    return
                (number, request), self._waiting = self._waiting, None
            try:
                answer = self._work(request, self._checker(number))
            except Superseded:
                continue
            except Exception as error:
                answer = error
            if self.is_newest(number):
                self._deliver(number, answer)

    def _checker(self, number):
        def check(*_):
            if not self.is_newest(number):
                raise Superseded

        return check
