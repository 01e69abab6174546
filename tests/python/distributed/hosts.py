"""Several hosts on one machine: python hosts.py 4 [--rate 1gbit] [--delay 1ms] -- program arguments

Each host has its own network interface, host name, processes and shared memory, as a container has. The links end in a
switch. They let through `rate` in either direction, and what a host sends arrives `delay` later. mpirun starts the
program once on each host, so MPI sends by TCP. All hosts are in namespaces of one process: when it ends, however it
ends, nothing of them is left, and no packet leaves them.

Needs Linux with iproute2, and root or a system where each user may make namespaces. Otherwise it prints the reason, and
its exit status is 77."""

import argparse
import os
import shutil
import subprocess
import sys

SKIPPED = 77  # as in Automake's tests
_NEW = ["unshare", "--net", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
_INSIDE = "ALLOY_HOSTS"  # set in the namespaces
_OWN = "/dev/shm"  # a file system of each host, and another one of the process that makes them
_FRAME = 9000  # bytes of a packet, so that its head is less than 1 % of it
# Runs a command on a host, as ssh does; mpirun calls it. unshare's child has another process namespace than unshare.
_REMOTE = f"{_OWN}/remote"
_ENTER = f"""process=$(cat {_OWN}/$1) && shift
exec nsenter -t $process --net --uts --ipc --mount --pid=/proc/$process/ns/pid_for_children sh -c "cd '$PWD' && $*"
"""


def missing() -> str:
    """Returns why this system makes no hosts, or ""."""
    for program in ("unshare", "nsenter", "mount", "hostname", "ip", "tc"):
        if shutil.which(program) is None:
            return f"there is no program {program}; packaging/install_system_packages.sh tests installs it"
    return _tried("tbf rate 1gbit burst 256kb latency 50ms")


def _tried(limit):
    """Returns the error of making namespaces, and in them a link with such a limit."""
    script = f"mount -t tmpfs own {_OWN} && ip link add end0 type veth peer name end1 && tc qdisc add dev end0 root "
    done = subprocess.run([*_outermost(), "sh", "-c", script + limit], capture_output=True, text=True)
    return done.returncode and (done.stderr.strip() or f"status {done.returncode}") or ""


def _outermost():
    return _NEW if os.geteuid() == 0 else [*_NEW, "--map-root-user"]


def _do(*script):
    subprocess.run(["sh", "-ec", "\n".join(script)], check=True)


def _limited(device, rate, delay):
    """Returns the commands that limit what the device sends."""
    # burst: more than the longest packet that the kernel divides. latency: the longest wait for the rate.
    shape = f"tc qdisc add dev {device} root handle 1: tbf rate {rate} burst 256kb latency 50ms"
    late = f"tc qdisc add dev {device} {'parent 1:1' if rate else 'root'} netem delay {delay} limit 100000"
    return [*[shape] * bool(rate), *[late] * bool(delay)]


def _make(number, host, rate, delay):
    """Makes a host in the namespaces of this process, and its link to the switch."""
    script = f"hostname {host} && mount -t tmpfs own {_OWN} && ip link set lo up && echo made"
    holder = subprocess.Popen([*_NEW, "sh", "-c", f"{script} && exec sleep infinity"], stdout=subprocess.PIPE)
    if not holder.stdout.readline():
        raise OSError(f"{host} cannot be made")
    with open(f"{_OWN}/{host}", "w") as file:
        file.write(str(holder.pid))
    port = f"port{number}"
    _do(
        f"ip link add {port} mtu {_FRAME} type veth peer name eth0 mtu {_FRAME} netns {holder.pid}",
        f"ip link set {port} master switch up",
        *_limited(port, rate, None),
    )
    inside = [f"ip address add 10.99.0.{number}/24 dev eth0", "ip link set eth0 up", *_limited("eth0", rate, delay)]
    subprocess.run(["sh", _REMOTE, host, " && ".join(inside)], check=True)


def _run(count, rate, delay, program):
    """Makes the hosts, and returns mpirun's exit status."""
    from alloy.tools import launch

    hosts = {f"host{number}": number for number in range(1, count + 1)}
    _do(f"mount -t tmpfs own {_OWN}")
    with open(_REMOTE, "w") as file:
        file.write(_ENTER)
    with open(f"{_OWN}/names", "w") as file:
        file.write("127.0.0.1 localhost\n10.99.0.254 switch\n")
        file.writelines(f"10.99.0.{number} {host}\n" for host, number in hosts.items())
    _do(
        f"mount --bind {_OWN}/names /etc/hosts",
        "hostname switch",
        "ip link set lo up",
        f"ip link add switch mtu {_FRAME} type bridge",
        "ip address add 10.99.0.254/24 dev switch",
        "ip link set switch up",
    )
    for host, number in hosts.items():
        _make(number, host, rate, delay)
    environment = launch.environment(count, None) | {"TMPDIR": _OWN}
    environment |= dict.fromkeys(("PRTE_MCA_plm_ssh_agent", "OMPI_MCA_plm_rsh_agent"), f"sh {_REMOTE}")  # Open MPI 5, 4
    command = [launch.launcher(), "--host", ",".join(hosts), *program]
    return subprocess.run(command, env=environment).returncode


def main():
    parser = argparse.ArgumentParser(description="Runs a program on several hosts in namespaces of this machine.")
    parser.add_argument("hosts", type=int)
    parser.add_argument("--rate", help="of each link, such as 1gbit; default: no limit")
    parser.add_argument("--delay", help="of each packet, such as 1ms, where the kernel has netem; default: none")
    parser.add_argument("program", nargs="+")
    given = parser.parse_args()
    if _INSIDE in os.environ:
        return _run(given.hosts, given.rate, os.environ[_INSIDE], given.program)
    if reason := missing():
        print(f"No hosts here: {reason}", file=sys.stderr)
        return SKIPPED
    delay = given.delay or ""
    if delay and (reason := _tried(f"netem delay {delay}")):
        print(f"Packets are not delayed, because the kernel has no netem: {reason}", file=sys.stderr)
        delay = ""
    sys.stderr.flush()
    command = [*_outermost(), sys.executable, *sys.argv]
    os.execvpe(command[0], command, os.environ | {_INSIDE: delay})


if __name__ == "__main__":
    sys.exit(main())
