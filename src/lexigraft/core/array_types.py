"""Short names for the arrays that kernels take, so that a kernel's parameters can be read at a glance."""

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Uint16s = NDArray[np.uint16]
Uint32s = NDArray[np.uint32]
Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]
Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]
