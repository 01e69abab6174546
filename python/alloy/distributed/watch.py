"""Notices processes that no longer answer, with the help of a small process beside each of them (watcher.py).

A thread would not do: one call may hold the interpreter's lock for long, and silence the thread."""

import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
from contextlib import suppress

import numpy as np

_SILENCE = 8.0  # seconds, after which a process that was heard before has failed
_MOST_ADDRESSES = 16
_ADDRESS_OF = 0xC0206921 if sys.platform == "darwin" else 0x8915  # SIOCGIFADDR


class Watch:
    """A process beside this one. It tells the next process that this one runs, and hears the one before. If some
    process falls silent, it says so to all, and ends this one after a few seconds."""

    def __init__(self, rank: int, gathered):
        """Begins, in all processes together. gathered(array): the arrays of all processes."""
        self._silent: list[int] = []
        self._watcher = None
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
            link.bind(("", 0))
            own, addresses = np.zeros(3 + _MOST_ADDRESSES, np.int64), _addresses(link)
            own[:2] = np.frombuffer(os.urandom(16), np.int64)
            own[2], own[3 : 3 + len(addresses)] = link.getsockname()[1], addresses
            found = gathered(own)
            places = [
                [(socket.inet_ntoa(struct.pack("!I", address)), port) for address in known if address]
                for port, *known in found[:, 2:].tolist()
            ]
            settings = {
                "link": link.fileno(),
                "rank": rank,
                "secret": found[0, :2].tobytes().hex(),  # rank 0's; strangers do not know it
                "places": places,
                "silence": _SILENCE,
                "reason": reason_of_silence(),
            }
            program = os.path.join(os.path.dirname(__file__), "watcher.py")
            command = [sys.executable, "-I", "-S", program, str(os.getpid())]
            with suppress(OSError):  # no memory: then nobody hears of this process, and nobody misses it
                self._watcher = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[link.fileno()]
                )
        if self._watcher is not None and self._watcher.stdin and self._watcher.stdout:
            with suppress(OSError), self._watcher.stdin as settle:  # not in the command, which everybody sees
                settle.write(json.dumps(settings).encode())
            self._told = self._watcher.stdout.fileno()
            os.set_blocking(self._told, False)

    def silent(self) -> list[int]:
        """Returns the ranks that have fallen silent."""
        if self._watcher is not None:
            with suppress(BlockingIOError):
                self._silent += np.frombuffer(os.read(self._told, 2**12), np.int32).tolist()
        return self._silent

    def close(self) -> None:
        if self._watcher is not None:
            self._watcher.kill()
            self._watcher.wait()


def reason_of_silence() -> str:
    return f"It has not answered for {_SILENCE:g} s"


def _addresses(link) -> list[int]:
    """Returns the IPv4 addresses of this host's network interfaces."""
    found = []
    for _, name in socket.if_nameindex():
        with suppress(OSError):  # one without an address
            asked = fcntl.ioctl(link, _ADDRESS_OF, struct.pack("40s", name.encode()))
            found += struct.unpack_from("!I", asked, 20)
    return found[:_MOST_ADDRESSES]
