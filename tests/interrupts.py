"""An interrupt, as from Ctrl+C, at a line of a running program."""

import signal
import sys
import threading
import time


def interrupt_at(file: str, line: int) -> None:
    """Interrupt the main thread as soon as it is at a line, within 20 seconds.

    A fixed time would not do: on a busy machine it ends before the program has come to the line,
    and an interrupt that comes while the callback of a weak reference runs is lost.
    """
    main_thread = threading.main_thread().ident
    assert main_thread is not None

    def wait_and_interrupt() -> None:
        for _ in range(1000):
            time.sleep(0.02)
            frame = sys._current_frames()[main_thread]
            if (frame.f_code.co_filename, frame.f_lineno) == (file, line):
                # A signal just before the system's sleep begins does not end that sleep.
                time.sleep(0.2)
                signal.pthread_kill(main_thread, signal.SIGINT)
                return

    threading.Thread(target=wait_and_interrupt).start()
