"""How the findings judged by hand fare today: `python benchmarks/precision.py CORPUS`.

`judged.tsv` holds findings in published packages, each read by hand against its source: `right` (a
maintainer would thank for it), `arguable` or `wrong`. CORPUS is a folder with a folder for each package
and version, as `pip download --no-binary` and unpacking make them (`CORPUS/<package>/<version>/...`). For
each rule and confidence the table tells how many judged findings of each verdict are still reported at
medium confidence or above. A wrong one should be gone, a right one should not.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

JUDGED = Path(__file__).with_name("learned.tsv")


def main(corpus: Path) -> None:
    """Print what became of each judged finding, by rule and verdict."""
    with JUDGED.open() as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    still: Counter[tuple[str, str]] = Counter()
    judged: Counter[tuple[str, str]] = Counter()
    for row in rows:
        path = corpus / row["package"] / row["path"]
        if not path.exists():
            print(f"{path}: not there", file=sys.stderr)
            continue
        judged[row["code"], row["verdict"]] += 1
        reported = (row["code"], int(row["line"])) in reported_in(path)
        still[row["code"], row["verdict"]] += reported
        if reported != (row["verdict"] == "right") and row["verdict"] != "arguable":
            what = "still reported" if reported else "no longer reported"
            print(f"{row['verdict']}, {what}: {row['package']}/{row['path']}:{row['line']} {row['code']}")
    print(f"{'rule':8}{'right':>10}{'arguable':>10}{'wrong':>10}   (still reported / judged)")
    for code in sorted({code for code, _ in judged}):
        cells = (f"{still[code, v]}/{judged[code, v]}" for v in ("right", "arguable", "wrong"))
        print(f"{code:8}" + "".join(f"{cell:>10}" for cell in cells))


@cache
def reported_in(path: Path) -> frozenset[tuple[str, int]]:
    """The rules and lines of a file's findings and of their related places."""
    command = [sys.executable, "-m", "tritonlint", "check", "--no-cache", "--output-format", "json"]
    output = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False).stdout
    return frozenset(
        (finding["code"], place["start"]["line"])
        for finding in json.loads(output)
        for place in (finding["range"], *(item["range"] for item in finding["related"]))
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
