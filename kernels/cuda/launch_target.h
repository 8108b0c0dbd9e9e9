// Where launches and copies go: to a stream, or into a graph.
//
// Graphs are built node by node. Capturing a stream would do the same, but while a process has a capture under way, no
// other thread of it may wait for the device: both would fail.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace inlay::cuda {

// A graph whose nodes run one after the other.
struct GraphChain {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t last = nullptr;  // null: none yet
  bool last_is_kernel = false;
};

class LaunchTarget {
 public:
  LaunchTarget(cudaStream_t stream) : stream_(stream) {}              // NOLINT: implicit by design
  LaunchTarget(GraphChain& chain) : chain_(&chain) {}                 // NOLINT
  cudaStream_t stream() const { return stream_; }
  GraphChain* chain() const { return chain_; }  // null: the stream

 private:
  cudaStream_t stream_ = nullptr;
  GraphChain* chain_ = nullptr;
};

// early: the kernel may start while the one before it ends.
inline cudaError_t append(GraphChain& chain, cudaGraphNode_t node, bool is_kernel, bool early) {
  cudaError_t code = cudaSuccess;
  if (chain.last) {
#if CUDART_VERSION >= 12030
    cudaGraphEdgeData edge{};
    if (early && is_kernel && chain.last_is_kernel) {
      edge.from_port = cudaGraphKernelNodePortProgrammatic;
      edge.type = cudaGraphDependencyTypeProgrammatic;
    }
#if CUDART_VERSION >= 13000
    code = cudaGraphAddDependencies(chain.graph, &chain.last, &node, &edge, 1);
#else
    code = cudaGraphAddDependencies_v2(chain.graph, &chain.last, &node, &edge, 1);
#endif
#else
    (void)early;  // graphs have no such edges yet
    code = cudaGraphAddDependencies(chain.graph, &chain.last, &node, 1);
#endif
  }
  chain.last = node;
  chain.last_is_kernel = is_kernel;
  return code;
}

inline cudaError_t append_kernel(GraphChain& chain, const cudaLaunchConfig_t& config, const void* kernel,
                                 void** arguments) {
  cudaKernelNodeParams params{};
  params.func = const_cast<void*>(kernel);
  params.gridDim = config.gridDim;
  params.blockDim = config.blockDim;
  params.sharedMemBytes = static_cast<unsigned>(config.dynamicSmemBytes);
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  cudaError_t code = cudaGraphAddKernelNode(&node, chain.graph, nullptr, 0, &params);
  bool early = false;
  for (unsigned i = 0; i < config.numAttrs && code == cudaSuccess; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    if (attribute.id == cudaLaunchAttributeProgrammaticStreamSerialization) {
      early = attribute.val.programmaticStreamSerializationAllowed != 0;  // of an edge, not of the node
    } else {
      code = cudaGraphKernelNodeSetAttribute(node, attribute.id, &attribute.val);
    }
  }
  return code == cudaSuccess ? append(chain, node, true, early) : code;
}

// config.stream is the target's.
inline cudaError_t launch_kernel(LaunchTarget target, cudaLaunchConfig_t config, const void* kernel, void** arguments) {
  if (target.chain()) return append_kernel(*target.chain(), config, kernel, arguments);
  config.stream = target.stream();
  return cudaLaunchKernelExC(&config, kernel, arguments);
}

// A kernel of one struct.
template <class Args>
cudaError_t launch_kernel(LaunchTarget target, const cudaLaunchConfig_t& config, void (*kernel)(const Args),
                          const Args& args) {
  void* arguments[] = {const_cast<Args*>(&args)};
  return launch_kernel(target, config, reinterpret_cast<const void*>(kernel), arguments);
}

template <class Args>
cudaError_t launch_kernel(LaunchTarget target, dim3 grid, int threads, void (*kernel)(const Args), const Args& args) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  return launch_kernel(target, config, kernel, args);
}

// From page-locked memory, which a graph reads each time that it runs.
inline cudaError_t copy_to_device(LaunchTarget target, void* to, const void* from, size_t bytes) {
  if (!target.chain()) return cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, target.stream());
  cudaGraphNode_t node = nullptr;
  const cudaError_t code = cudaGraphAddMemcpyNode1D(&node, target.chain()->graph, nullptr, 0, to, from, bytes,
                                                    cudaMemcpyHostToDevice);
  return code == cudaSuccess ? append(*target.chain(), node, false, false) : code;
}

}  // namespace inlay::cuda
