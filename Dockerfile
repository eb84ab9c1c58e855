# The package and its command `sleuth`; with `--build-arg EXTRAS='[train]'` training, too.
# docs/docker.md says how to build and use the image.
ARG PYTHON=3.11

FROM python:${PYTHON}-slim AS wheel
WORKDIR /source
COPY LICENSE MANIFEST.in README.md pyproject.toml setup.py sleuth_command.py ./
COPY configs configs
COPY sleuth_env sleuth_env
COPY training training
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:${PYTHON}-slim
# Extras of the package to install besides, such as [train] or [train,wandb].
ARG EXTRAS=""
# What pip reads, where the packages are to come from another index.
ARG PIP_INDEX_URL
ARG PIP_EXTRA_INDEX_URL
# `generic` compiles for every processor of the kind that the image is built on.
ARG NUMBA_CPU_NAME
COPY constraints.txt /tmp/
COPY --from=wheel /wheels /tmp/wheels
RUN pip install --no-cache-dir --constraint /tmp/constraints.txt "$(echo /tmp/wheels/*.whl)${EXTRAS}"
# As root, who may write beside the package: whoever runs the image only reads what is compiled.
RUN sleuth compile \
    && useradd --create-home --uid 1000 --user-group sleuth \
    && install --directory --owner sleuth --group sleuth /work
USER 1000:1000
WORKDIR /work
ENTRYPOINT ["sleuth"]
CMD ["--help"]
