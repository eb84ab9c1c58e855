"""Where training lies: its code and its configurations, at the top of the repository.

A wheel holds both inside of the package, as `sleuth_env.training` and `sleuth_env.configs`, so that
nobody gets a package of the name `training`. Nothing here imports what training needs.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from .checks import did_you_mean

PACKAGE = Path(__file__).parent
IS_INSTALLED = (PACKAGE / "training").is_dir()
# The folder in which the folders of both lie.
PLACE = PACKAGE if IS_INSTALLED else PACKAGE.parent
SUFFIX = ".yaml"


def training_module(name: str) -> ModuleType:
    """Import a module of training, such as ``train``.

    Raises:
        ModuleNotFoundError: it needs something that is not installed.
    """
    if IS_INSTALLED:
        return import_module(f"{__package__}.training.{name}")
    if "training" not in sys.modules:
        _load(PLACE / "training")
    return import_module(f"training.{name}")


def _load(folder: Path) -> None:
    """Import a package from its folder: where somebody works there may be one of this name, too."""
    spec = spec_from_file_location(folder.name, folder / "__init__.py", submodule_search_locations=[str(folder)])
    assert spec is not None
    assert spec.loader is not None
    package = module_from_spec(spec)
    sys.modules[folder.name] = package
    spec.loader.exec_module(package)


def names_instead(name: str) -> str:
    """Return what the refusal of an unknown configuration ends with: which may have been meant, and all names."""
    known = configurations()
    guess = did_you_mean(name, known)
    return f"{guess} The names are {', '.join(known)}" if guess else f"; the names are {', '.join(known)}"


def configurations() -> dict[str, Path]:
    """Return the files of the configurations that come with the package, by their names."""
    return {path.stem: path for path in sorted((PLACE / "configs").glob(f"*{SUFFIX}"))}
