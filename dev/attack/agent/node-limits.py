# What a pod takes of the limits that all pods of its node share. `take` takes each until it is refused, and holds it; `use` takes one of each again
# and again, as any program does. Both print one JSON object a line. Bounded, so that a node without limits stays usable.
import ctypes, errno, json, os, select, sys, threading, time

libc = ctypes.CDLL(None, use_errno=True)
IO_SETUP, IO_DESTROY = {'x86_64': (206, 207), 'aarch64': (0, 1)}[os.uname().machine]


def say(**line):
    print(json.dumps(line), flush=True)


def checked(result):
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def pty():
    return os.open('/dev/ptmx', os.O_RDWR | os.O_NOCTTY)


def aio(events):
    context = ctypes.c_ulong(0)
    checked(libc.syscall(IO_SETUP, events, ctypes.byref(context)))
    return context


def inotify():
    return checked(libc.inotify_init1(0))


def thread(until):
    started = threading.Thread(target=until.wait, daemon=True)
    started.start()
    return started


def watches():
    """A hundred watches of one more set."""
    watched = select.epoll()
    for descriptor in pipes:
        watched.register(descriptor, select.EPOLLIN)
    return watched


def taken(take, most):
    """How many were given before the first refusal, and the refusal."""
    held = []
    try:
        while len(held) < most:
            held.append(take())
        return held, 'none'
    except OSError as error:
        return held, errno.errorcode.get(error.errno, str(error))
    except RuntimeError as error:  # a thread that cannot start
        return held, str(error)


def use_all():
    until = threading.Event()
    uses = {'pty': lambda: os.close(pty()), 'inotify': lambda: os.close(inotify()), 'epoll': lambda: watches().close()}
    uses['aio'] = lambda: libc.syscall(IO_DESTROY, aio(64))
    uses['processes'] = lambda: thread(until)
    uses['files'] = lambda: os.close(os.open('/dev/null', os.O_RDONLY))
    failed = {}
    for what, use in uses.items():
        try:
            use()
        except (OSError, RuntimeError) as error:
            failed[what] = str(error)
    until.set()
    return failed


pipes = [descriptor for _ in range(50) for descriptor in os.pipe()]
threading.stack_size(32768)
if sys.argv[1] == 'use':
    while True:
        say(failed=use_all(), at=time.time())
        time.sleep(0.5)
held = []
for what, take, most in [
    ('pty', pty, 5000),
    ('inotify', inotify, 9000),
    ('aio', lambda: aio(4096), 512),
    ('epoll', watches, 2000),
    ('processes', lambda: thread(threading.Event()), 4500),
]:
    own, refused = taken(take, most)
    held.append(own)
    say(what=what, taken=len(own), refused=refused)
say(held=True, at=time.time())
time.sleep(120)
