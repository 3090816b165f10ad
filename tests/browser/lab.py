"""JupyterLab and a browser for the tests: started, used, and shut down in any case."""

import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

ARTEFACTS = Path(__file__).parents[2] / "build" / "browser"  # screenshots
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox --disable-quic --no-first-run --disable-background-networking --disable-component-update"
    " --disable-sync --use-angle=swiftshader --enable-unsafe-swiftshader"  # WebGL without a graphics card
).split()
SETTINGS = {"fetchNews": "false", "checkForUpdates": False}  # nothing that needs a network, or hides a panel


def find_browser():
    """Return the path of a Chromium, or None."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def write_notebook(path, source, outputs=()):
    """Write a notebook with one cell, and what it showed."""
    cell = {"cell_type": "code", "id": "panel", "metadata": {}, "source": source}
    cell |= {"execution_count": None, "outputs": list(outputs)}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook))


@contextmanager
def jupyter_lab(folder):
    """Start JupyterLab on a folder, with settings of its own, and yield the function from path to address."""
    names = ("_CONFIG", "_DATA", "_RUNTIME", "LAB_SETTINGS", "LAB_WORKSPACES")
    own = {f"JUPYTER{name}_DIR": folder / ".jupyter" / name.lower() for name in names}
    own["IPYTHONDIR"] = folder / ".ipython"
    settings = own["JUPYTERLAB_SETTINGS_DIR"] / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    (settings / "notification.jupyterlab-settings").write_text(json.dumps(SETTINGS))
    environment = {**os.environ, **{name: str(path) for name, path in own.items()}}
    environment |= {"JUPYTER_PREFER_ENV_PATH": "1"}  # the kernel of this environment
    token, port = secrets.token_hex(16), _free_port()
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}"]
    command += ["--ServerApp.port_retries=0", f"--IdentityProvider.token={token}", f"--notebook-dir={folder}"]
    with open(folder / "server.log", "w") as log:
        server = subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log)
        try:
            root = f"http://127.0.0.1:{port}"
            _wait_for(f"{root}/api/status?token={token}", server, folder / "server.log")
            # Each in a workspace of its own, so that no notebook opens beside another.
            yield lambda path: f"{root}/lab/workspaces/{Path(path).stem}/tree/{path}?token={token}"
        finally:
            server.terminate()  # it takes its kernels with it
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


@contextmanager
def chromium(executable):
    """Start a headless Chromium without a history, and yield it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _wait_for(address, server, log, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")
