"""The committed data are the article's universes, number for number."""

import json

import pandas as pd
import pytest
from paths import DATA

# Lee and Clifton (2011); "Global Sensitivity From Scratch", scenario (a).
SCHOOL = {
    "school_small.csv": {
        "school_year": [1, 2, 3, 4],
        "absence_days": [1, 2, 3, 10],
    },
    "school_large.csv": {
        "school_year": [1, 2, 2, 2, 5, 5, 7, 8, 9, 9],
        "absence_days": [1, 2, 3, 4, 5, 6, 7, 8, 15, 20],
    },
}
# "Global Sensitivity From Scratch", scenario (b).
DRIVER = {"mood": [1, 2], "driving_proficiency": [1, 2, 3]}


@pytest.mark.parametrize("file", SCHOOL)
def test_school_records_are_the_published_ones(file):
    numbers = pd.read_csv(DATA / file).select_dtypes("number")
    assert numbers.to_dict("list") == SCHOOL[file]


@pytest.mark.parametrize("file", SCHOOL)
def test_school_numbers_are_read_as_integers(file):
    numbers = pd.read_csv(DATA / file).select_dtypes("number")
    assert set(numbers.dtypes) == {pd.Series([0]).dtype}


def test_large_school_names_each_record_once():
    names = pd.read_csv(DATA / "school_large.csv")["name"]
    assert len(names) == 10
    assert names.is_unique


def test_driver_domain_is_the_published_one():
    assert json.loads((DATA / "driver_domain.json").read_text("utf-8")) == DRIVER


def test_readme_describes_every_file_and_column():
    readme = (DATA / "README.md").read_text("utf-8")
    files = [path for path in DATA.iterdir() if path.name != "README.md"]
    suite = {"reference_sensitivities.json", "reference_sensitivities.schema.json"}
    assert {path.name for path in files} == {
        *SCHOOL,
        "driver_domain.json",
        *suite,
        "article_k12.json",
    }
    columns = {"name", *DRIVER}.union(*SCHOOL.values())
    for term in [*(path.name for path in files), *columns]:
        assert f"| `{term}` |" in readme, term
