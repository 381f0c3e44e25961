"""The part of the measurements that needs no network and little time: it fails where the tool gets worse.

benchmarks/accuracy.py measures the same on published packages. Here the faults are planted in the kernels
of this repository.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from measures import density, findings, judged, labels, mutations, operators, packages
from measures.reading import File

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures"
FILES = [*sorted(FIXTURES.glob("cases/*/good.py")), *sorted(FIXTURES.glob("kernels/*.py"))]


@pytest.fixture(scope="module")
def outcomes():
    found = []
    for file in FILES:
        places = [place for place, _ in mutations.places_in(file, "fixtures", str(file.relative_to(ROOT)))]
        found += mutations.run_places(file, file.parent, places)
    return [outcome for outcome in found if outcome.silent]


def test_planted_faults_are_found(outcomes):
    rows = mutations.recall(outcomes)
    missed = "\n".join(place for row in rows for place in row.missed)
    assert sum(row.found for row in rows) >= 0.95 * sum(row.planted for row in rows), missed
    assert [row.operator for row in rows if row.planted >= 10 and row.rate < 0.85] == [], missed


def test_every_family_of_rules_is_planted(outcomes):
    codes = {code for one in outcomes for code in mutations.by_name(one.place.operator).codes}
    assert {code[:3] for code in codes} == {"TL1", "TL2", "TL3", "TL4", "TL5", "TL6"}


@pytest.mark.parametrize("operator", operators.OPERATORS, ids=lambda operator: operator.name)
def test_what_an_operator_writes_is_python(operator):
    plants = [plant for file in FILES for plant in operator.plants(File(file.read_text("utf-8")))]
    for plant in plants:
        File(plant.text)
        assert plant.line in plant.lines


def test_a_plant_is_marked_on_the_lines_that_changed():
    text = (FIXTURES / "kernels" / "addition_vectorielle.py").read_text("utf-8")
    for plant in mutations.by_name("drop-load-mask").plants(File(text)):
        before, after = text.splitlines(), plant.text.splitlines()
        assert before[: plant.line - 1] == after[: plant.line - 1]
        assert "mask" in before[plant.line - 1]
        assert "mask" not in after[plant.line - 1]


# --- the measures themselves ---------------------------------------------------------------------
PACKAGE = packages.Package("some-kernels", "1.0", "op-library", "wheel", 10)


def reported(line, code="TL101", confidence="medium", kernel="k", path="some-kernels/1.0/a.py", message="m"):
    return findings.Reported(
        PACKAGE, path, line, code, confidence, kernel, message, f"{line}", frozenset({line})
    )


def test_density_counts_tuning_apart():
    found = [reported(1, confidence="high"), reported(2), reported(3, "TL301"), reported(4, "TL901", "high")]
    measured = density.measure(PACKAGE, [*found, reported(5, confidence="low")])
    assert measured.rate(measured.medium) == 0.2
    assert measured.rate(measured.high) == 0.1
    assert measured.medium["TL301"] == 1


def test_the_draw_is_the_same_for_the_same_seed_and_shares_out_to_rules():
    found = [reported(line, code, kernel=f"k{line}") for code in ("TL101", "TL202") for line in range(50)]
    found += [reported(line, "TL602", kernel=f"k{line}") for line in range(3)]
    found += [reported(60, confidence="low"), reported(61, "TL901", "high")]
    drawn = judged.draw(found, 13, seed=3)
    assert drawn == judged.draw(list(reversed(found)), 13, seed=3)
    assert drawn != judged.draw(found, 13, seed=4)
    assert {code: sum(one.code == code for one in drawn) for code in ("TL101", "TL202", "TL602")} == {
        "TL101": 5,
        "TL202": 5,
        "TL602": 3,
    }


def test_labels_tell_what_is_missed_and_what_is_reported_in_vain():
    rows = packages.read_table("labels.tsv")
    yes = next(row for row in rows if row["verdict"] == "yes")
    path = f"{yes['package']}/{yes['version']}/{yes['path']}"
    measured = {f"{yes['package']}=={yes['version']}"}
    silent = labels.measure([], measured)
    assert silent.found == 0
    assert silent.wanted > 0
    hit = reported(int(yes["line_of_pitfall"]), f"TL{yes['TL-pitfall']}01", path=path)
    assert labels.measure([hit], measured).found == 1
    safe = packages.read_table("negatives.tsv")[0]
    path = f"{safe['package']}/{safe['version']}/{safe['path']}"
    vain = reported(int(safe["line"]), f"TL{safe['TL-pitfall']}01", path=path)
    assert len(labels.measure([vain], measured).negatives_reported) == 1


def test_judged_rows_have_a_verdict_and_a_reason():
    for name in ("judged.tsv", "learned.tsv"):
        for row in judged.read_judged(name):
            assert row.verdict in judged.VERDICTS, row
            assert row.reason, row


def corpus_with(folder, file):
    """A corpus of one package, whose only file is one of ours."""
    package = folder / "triton-util" / "0.0.2" / "triton_util"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "kernels.py").write_bytes(file.read_bytes())
    return folder


def run_script(name, *arguments):
    command = [sys.executable, str(ROOT / "benchmarks" / name), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


def test_one_command_measures_a_corpus(tmp_path):
    case = next(FIXTURES.glob("cases/p1-*/bad.py"))
    corpus = corpus_with(tmp_path / "corpus", case)
    output = tmp_path / "figures.json"
    done = run_script("accuracy.py", "--corpus", corpus, "--only", "density", "--json", output)
    assert done.returncode == 0, done.stderr
    figures = json.loads(output.read_text("utf-8"))
    assert sum(figures["density"]["triton-util==0.0.2"]["medium"].values()) >= 1
    assert "triton-util==0.0.2" in done.stdout


def test_an_empty_corpus_says_what_to_do(tmp_path):
    for script in (["accuracy.py"], ["ecosystem.py", ".", "."]):
        done = run_script(*script, "--corpus", tmp_path)
        assert done.returncode == 2
        assert "--download" in done.stderr


def test_the_ecosystem_diff_shows_what_a_version_adds(tmp_path):
    corpus = corpus_with(tmp_path / "corpus", next(FIXTURES.glob("cases/p1-*/bad.py")))
    silent = tmp_path / "silent"
    (silent / "tritonlint").mkdir(parents=True)
    (silent / "tritonlint" / "__init__.py").touch()
    (silent / "tritonlint" / "__main__.py").write_text("print('[]')\n")
    done = run_script("ecosystem.py", silent, ".", "--corpus", corpus)
    assert done.returncode == 0, done.stderr
    assert "+ triton-util/0.0.2/triton_util/kernels.py" in done.stdout
    assert " 0 removed in 1 packages" in done.stdout
