import os

from spack_repo.builtin.build_systems.cargo import CargoPackage

from spack.package import *


class Mmgp(CargoPackage):
    """Chooses how a program maps onto host cores and accelerators: m processes of p threads or accelerators each."""

    homepage = "https://docs.rs/mmgp"
    url = "@ADDRESS@/mmgp-@VERSION@.tar.gz"

    license("MIT OR Apache-2.0")

    # The archive of packaging/source.sh, which has all crates: nothing is fetched while it is built.
    version("@VERSION@", sha256="@SHA256@")

    variant("nsys", default=False, description="Read traces that Nsight Systems has exported")
    variant("python", default=False, description="The module mbyp for Python")

    depends_on("c", type="build")
    depends_on("rust@1.95:", type="build")

    extends("python@3.9:", when="+python")

    def build(self, spec, prefix):
        arguments = ["build", "--release", "--locked", "--offline", "-j", str(make_jobs)]
        features = ["--features", "nsys"] if spec.satisfies("+nsys") else []
        with working_dir(self.stage.source_path):
            cargo(*arguments, "--bin", "mmgp", *features)
            if spec.satisfies("+python"):
                cargo(*arguments, "--package", "mbyp", "--lib")

    def install(self, spec, prefix):
        with working_dir(self.stage.source_path):
            mkdirp(prefix.bin)
            install(join_path("target", "release", "mmgp"), prefix.bin)
            mmgp = Executable(prefix.bin.mmgp)
            mmgp("man", "--out", prefix.share.man.man1)
            for shell, file in (
                ("bash", "bash-completion/completions/mmgp"),
                ("zsh", "zsh/site-functions/_mmgp"),
                ("fish", "fish/vendor_completions.d/mmgp.fish"),
            ):
                path = join_path(prefix.share, file)
                mkdirp(os.path.dirname(path))
                with open(path, "w") as completions:
                    mmgp("completions", shell, output=completions)
            if spec.satisfies("+python"):
                module = join_path(python_platlib, "mbyp")
                install_tree(join_path("crates", "python", "mbyp"), module)
                install(join_path("target", "release", "lib_mbyp.so"), join_path(module, "_mbyp.abi3.so"))

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def it_answers(self):
        Executable(self.prefix.bin.mmgp)("predict", "--params", "pbpi-qs20", "--top", "3")
