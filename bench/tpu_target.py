"""A chip to lower for that isn't there: what benches that lower JAX programs share. Import it before jax."""
import os

os.environ.update(TPU_SKIP_MDS_QUERY="1", TPU_ACCELERATOR_TYPE="v6e-4", TPU_WORKER_HOSTNAMES="localhost", TPU_LOG_DIR="disabled",
                  ALLOW_MULTIPLE_LIBTPU_LOAD="1", JAX_PLATFORMS="cpu")

import jax
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
import jax._src.mesh as mesh_lib  # the abstract device that Pallas asks for has no public name in jax 0.10

TOPOLOGIES = {"v4": ("v4:2x2x1", {"chip_config_name": "megacore"}), "v5e": ("v5e:2x2", {}), "v5p": ("v5p:2x2x1", {}),
              "v6e": ("v6e:1x1", {}), "tpu7x": ("tpu7x:2x2x1", {})}


class Target:
    """A chip to lower for: its abstract device, and shapes placed on it."""

    def __init__(self, chip, devices=1):
        name, options = TOPOLOGIES[chip]
        if devices > 1:
            name = name.replace("1x1", "2x2")
        topology = topologies.get_topology_desc(name, platform="tpu", **options)
        self.devices = topology.devices[:devices]
        kind = self.devices[0].device_kind
        device = mesh_lib.AbstractDevice(device_kind=kind, num_cores=self.devices[0].num_cores, platform="tpu")
        self.mesh = mesh_lib.AbstractMesh((), (), abstract_device=device)

    def place(self, shape):
        return jax.ShapeDtypeStruct(shape.shape, shape.dtype, sharding=SingleDeviceSharding(self.devices[0]))

    def lower(self, function, arguments, **options):
        with jax.sharding.use_abstract_mesh(self.mesh):
            return jax.jit(function, **options).lower(*jax.tree.map(self.place, arguments))
