"""What a cell has shown follows what is done later: no output contradicts the one above it."""

from collections.abc import Iterator
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from kernels import messages

CARD = """
import tinytorch as torch
from copylab import progress
from copylab.lessons.clone import readings
readings
"""


def click(client: BlockingKernelClient, comm: str, action: str) -> Iterator[tuple[str, Any]]:
    """Press a button of a widget, and give its messages until the kernel is idle."""
    content = {"comm_id": comm, "data": {"method": "custom", "content": {"do": action}}}
    message = client.session.msg("comm_msg", content)
    client.shell_channel.send(message)
    while True:
        answer = client.get_iopub_msg(timeout=30)
        if answer["parent_header"].get("msg_id") != message["header"]["msg_id"]:
            continue
        if answer["msg_type"] == "status" and answer["content"]["execution_state"] == "idle":
            return
        yield answer["msg_type"], answer


def find_texts(found: Iterator[tuple[str, Any]], kind: str) -> dict[str, str]:
    """Return the texts of outputs of a kind, by the id by which they are renewed."""
    texts = {}
    for message_kind, message in found:
        if message_kind == kind:
            content = message.get("content", message)
            output = content.get("transient", {}).get("display_id", "")
            texts[output] = content["data"]["text/plain"]
    return texts


def test_a_check_and_the_progress_below_it_follow_a_click(kernel: Any) -> None:
    """A card said "Solved" above "Not attempted" and "0 of 2"."""
    _, client = kernel
    list(messages(client, CARD))
    list(messages(client, read_source(client, "readings.start")))
    ((check, said),) = find_texts(messages(client, "readings.check()"), "display_data").items()
    assert said.startswith("Not attempted")
    ((table, shown),) = find_texts(messages(client, 'progress("clone")'), "display_data").items()
    assert "0 of 2 exercises solved" in shown
    list(messages(client, read_source(client, "readings.code")))

    comm = read_source(client, "readings.live().card.comm.comm_id")
    renewed = find_texts(click(client, comm, "check"), "update_display_data")
    assert renewed[check].startswith("Right: ")
    assert "1 of 2 exercises solved" in renewed[table]

    # A cell that checks shows its own verdict, and leaves what is above it.
    list(messages(client, read_source(client, "readings.start")))
    found = list(messages(client, "readings.check()"))
    assert find_texts(iter(found), "update_display_data").keys() <= {table}
    assert find_texts(iter(found), "display_data").keys() == {check}


def read_source(client: BlockingKernelClient, expression: str) -> str:
    """Return what an expression prints in the kernel."""
    found = messages(client, f"print({expression})")
    return "".join(content["text"] for kind, content in found if kind == "stream").strip()
