"""The commands that look at a view, on a window view and its watches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deploy.cli.__main__ import main
from skyline.errors import InvalidInput
from skyline.runtime.config import KafkaSettings
from tests.maintainer.harness import committed
from tests.maintainer.process import Maintainer

pytestmark = pytest.mark.kafka


def test_a_window_is_put_watched_and_listed(
    kafka: KafkaSettings, unique: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    views = tmp_path / "views.toml"
    views.write_text(
        f'[{unique}]\ndimensions = {{ price = "min", volume = "max" }}\nwindow = {{ size = 3, watch = [1] }}\n'
    )
    flags = ["--views", str(views), "--bootstrap", kafka.bootstrap]
    assert main(["topics", *flags]) == 0
    assert f"{unique}.rejected, {unique}.changes.last-1" in capsys.readouterr().out
    for key, price, volume in (("", 10, 5), ("deal", 9, 6), ("deal", 8, 1), ("", 11, 9)):
        assert main(["put", *flags, unique, key, f"price={price}", f"volume={volume}"]) == 0
    with Maintainer(kafka, views, tmp_path / "state") as maintainer:
        maintainer.until(lambda: committed(kafka, unique) == 4, "all committed")
        assert maintainer.stop() == 0, maintainer.text()

    capsys.readouterr()
    assert main(["members", "--json", *flags, unique]) == 0
    assert [json.loads(line)["key"] for line in capsys.readouterr().out.splitlines()] == ["3", "deal@1", "deal@2"]
    assert main(["watch", "--from-start", "--count", "5", *flags, unique]) == 0
    assert [line.split(" ", 1)[1] for line in capsys.readouterr().out.splitlines()] == [
        "+ 0 entered: new (price 10, volume 5), 1 members",
        "- 0 left: deal@1 dominates it (price 10, volume 5), 0 members",
        "+ deal@1 entered: new (price 9, volume 6), 1 members",
        "+ deal@2 entered: new (price 8, volume 1), 2 members",
        "+ 3 entered: new (price 11, volume 9), 3 members",
    ]
    assert main(["watch", "--from-start", "--count", "7", "--last", "1", *flags, unique]) == 0
    assert capsys.readouterr().out.splitlines()[-1].split(" ", 1)[1] == (
        "+ 3 entered: new (price 11, volume 9), 1 members"
    )
    with pytest.raises(InvalidInput, match=r"does not watch the newest 2; it watches: 1"):
        main(["watch", "--last", "2", *flags, unique])
