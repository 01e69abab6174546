"""The program of the process that watch.py starts beside each of several; its argument is that process's number."""

import json
import os
import signal
import socket
import subprocess
import sys
import time

_PAUSE = 1.0  # seconds between two messages to the next process
_LATE = 2.5  # seconds between two looks, after which this process was stopped itself
_SAY, _END, _END_SILENT = 3.0, 3.5, 4.5  # seconds after which this one says that one is silent, and ends its process
_QUICK = 0.1  # seconds between two looks at that time, so that all say it before the first one ends
_RUNS, _SILENT = 0, 1  # kinds of messages


def main(process: int) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # the process may go on after them
        signal.signal(number, signal.SIG_IGN)
    given = json.loads(sys.stdin.read())
    link, secret = socket.socket(fileno=given["link"]), bytes.fromhex(given["secret"])
    places, rank, silence = given["places"], given["rank"], given["silence"]
    after, before = (rank + 1) % len(places), (rank - 1) % len(places)
    heard = None  # when the process before spoke; before that, its messages may not come through
    silent, since, said = None, 0.0, False
    spoken = looked = time.monotonic()

    def send(other: int, kind: int, about: int) -> None:
        for place in places[other]:
            try:
                link.sendto(secret + bytes([kind]) + about.to_bytes(4, "little"), tuple(place))
            except OSError:
                pass  # an address in another network

    send(after, _RUNS, rank)
    while os.getppid() == process:
        now = time.monotonic()
        if now - spoken >= _PAUSE:
            spoken, stopped = now, is_stopped(process)
            if not stopped:
                send(after, _RUNS, rank)
            if heard is not None and (stopped or now - looked > _LATE):
                heard = now  # who was stopped has missed messages, and accuses nobody
        looked = now
        told = None
        if silent is None and heard is not None and now - heard > silence:
            told = before
            for other in range(len(places)):
                send(other, _SILENT, told)
        link.settimeout(_QUICK if silent is not None else max(0.01, spoken + _PAUSE - now))
        try:
            message = link.recv(100)
        except OSError:  # none; or one that was sent has not arrived
            message = b""
        if message.startswith(secret) and len(message) == len(secret) + 5:
            kind, about = message[len(secret)], int.from_bytes(message[-4:], "little")
            if kind == _SILENT and about < len(places):
                told = about
            elif about == before:
                heard = time.monotonic()
        if told is not None and silent is None:
            silent, since = told, time.monotonic()
            os.write(1, silent.to_bytes(4, sys.byteorder))
        passed = time.monotonic() - since if silent is not None else 0.0
        if passed > _SAY and not said:
            os.write(2, f"[distributed] Rank {silent} failed: {given['reason']}.\n".encode())
            said = True
        if passed > (_END_SILENT if silent == rank else _END):
            os.kill(process, signal.SIGKILL)
            return


def is_stopped(process: int) -> bool:
    """Tells whether a signal has stopped the process; one that a debugger stops counts as running."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] == "T"
    except OSError:  # not Linux
        asked = subprocess.run(["ps", "-o", "state=", "-p", str(process)], capture_output=True, text=True)
        return asked.stdout.strip().startswith("T")


if __name__ == "__main__":
    main(int(sys.argv[1]))
