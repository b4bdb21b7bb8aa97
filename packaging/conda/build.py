#!/usr/bin/env python3
"""Renders a recipe that `packaging/source.sh` has filled in, and with OUT builds it, without any channel.

    packaging/conda/build.py RECIPE [OUT]

Needs py-rattler-build; ends with 77 where it is not there. No package is fetched: the build takes the compilers of the
host in the place of those under `requirements`. With channels, the command `rattler-build build --recipe RECIPE`
takes the recipe as it is.
"""

import re
import sys
import tempfile
from pathlib import Path

try:
    from rattler_build import EnvironmentIsolation, Stage0Recipe, ToolConfiguration, VariantConfig
except ImportError:
    print(f"skipped: the recipe for conda: {sys.executable} has no py-rattler-build")
    sys.exit(77)


def main() -> None:
    text = Path(sys.argv[1]).read_text()
    # Compilers are named by a file of variants, which a channel's build brings.
    variants = VariantConfig.from_yaml("c_compiler: [gcc]\nc_stdlib: [sysroot]\n")
    rendered = Stage0Recipe.from_yaml(text).render(variants)
    print(f"rendered {len(rendered)} package of {sys.argv[1]}")
    if len(sys.argv) < 3:
        return
    with tempfile.TemporaryDirectory() as folder:
        # A folder of its own, because all of it is walked through.
        recipe = Path(folder, "recipe.yaml")
        recipe.write_text(re.sub(r"^requirements:\n(?: .*\n|\n)*", "", text, flags=re.MULTILINE))
        for variant in Stage0Recipe.from_file(recipe).render(VariantConfig()):
            result = variant.run_build(
                output_dir=sys.argv[2],
                channels=[],
                tool_config=ToolConfiguration(test_strategy="skip"),
                # The host's cargo is on no path of a strict environment.
                env_isolation=EnvironmentIsolation.NONE,
            )
            print(result)


main()
