"""Matches and trainings on a Ray cluster of two nodes, one of which is lost in the middle."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ray = pytest.importorskip("ray")

from ray.cluster_utils import Cluster  # noqa: E402

from sleuth_env import Options, play_match, sleuth  # noqa: E402
from sleuth_env.cli.commands import main  # noqa: E402
from sleuth_env.matches.seating import MatchError  # noqa: E402
from sleuth_env.matches.shards import open_pool  # noqa: E402
from sleuth_env.matches.tasks import StoppedError  # noqa: E402
from tests.support.tasks import kill_once, later, process_of, refused, threads_of  # noqa: E402
from tests.support.terminal import said  # noqa: E402

THREE = Options(num_players=3)
SEATS = ["sheet", "random", "random"]
DEALS = 400  # several shards for each node


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    yield found
    found.shutdown()


def started_on(number: int) -> str:
    """Return the node that does a task, which takes a while."""
    time.sleep(2)
    return str(ray.get_runtime_context().get_node_id())


class Losing:
    """Take a node away from a cluster when called for the first time, or after some calls."""

    def __init__(self, cluster: Cluster, node: Any, calls: int = 1) -> None:
        self.cluster = cluster
        self.node = node
        self.calls = calls

    @property
    def lost(self) -> bool:
        """Whether the node is lost."""
        return self.calls <= 0

    def __call__(self, *_: Any) -> bool:
        """Count, and take it away at the last call; nothing is to be stopped by that."""
        self.calls -= 1
        if self.calls == 0:
            self.cluster.remove_node(self.node, allow_graceful=False)
        return False


def test_tasks_are_done_in_order_and_their_errors_raised_here(cluster: Cluster, tmp_path: Path) -> None:
    with open_pool(ray=cluster.address) as pool:
        assert [number for number, _ in pool.map(process_of, range(5))] == [0, 1, 2, 3, 4]
        assert pool.map(threads_of, [0]) == ["1"]
        with pytest.raises(ValueError, match="nobody likes 7"):
            pool.map(refused, [7])
        with pytest.raises(StoppedError):
            pool.map(later, [600.0], stopped=lambda: True)
        mark = str(tmp_path / "mark")
        assert pool.map(kill_once, [mark]) == [mark]


def test_tasks_of_a_lost_node_are_done_again(cluster: Cluster) -> None:
    losing = Losing(cluster, cluster.add_node(num_cpus=1))
    with open_pool(ray=cluster.address) as pool:
        nodes = pool.map(started_on, range(6), losing)
    assert losing.lost
    assert len(nodes) == 6
    assert len(set(nodes)) <= 2


def test_a_match_is_the_same_when_a_node_is_lost(cluster: Cluster) -> None:
    alone = play_match(sleuth, THREE, SEATS, DEALS, seed=3)
    losing = Losing(cluster, cluster.add_node(num_cpus=1))
    assert play_match(sleuth, THREE, SEATS, DEALS, 3, progress=losing, ray=cluster.address) == alone
    assert losing.lost


def test_a_learner_learns_the_same_when_a_node_is_lost(cluster: Cluster) -> None:
    pytest.importorskip("torch")
    from tests.test_ppo import go_on, learner, same

    alone = learner({"random": 1.0}, shards=4)
    together = learner({"random": 1.0}, shards=4)
    # At that look whether to stop, its shard is being played.
    losing = Losing(cluster, cluster.add_node(num_cpus=1), 20)
    with open_pool(ray=cluster.address) as together.pool:
        for progress in (0.0, 0.3):
            assert alone.learn(progress, go_on) == together.learn(progress, losing)
            assert same(alone, together)
    assert losing.lost


def test_a_cluster_that_is_not_there_is_said_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", *SEATS, "--ray", "nonsense://"]) == 2
    errors = said(capsys)[1]
    assert errors.startswith("sleuth: there is no Ray cluster at 'nonsense://'")
    for address in ("127.0.0.1:1", "127.0.0.1:99999", "ray://nobody.invalid:6379"):
        with pytest.raises(MatchError, match=f"there is no Ray cluster at '{address}': "):
            open_pool(ray=address).__enter__()
