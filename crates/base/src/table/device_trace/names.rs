//! What the things are called that devices do.

/// The name of a kernel without its result, its arguments and those of its templates, so that all
/// instances of one template are one function: `void at::native::reduce_kernel<512, 1>(Op)` is
/// `at::native::reduce_kernel`.
pub(super) fn kernel(name: &str) -> String {
    // It has the bracket of an argument list, but is a namespace.
    let name = name.replace("(anonymous namespace)::", "");
    let base = name.split(['<', '(']).next().unwrap_or_default();
    match base.split_whitespace().next_back() {
        Some(base) => base.to_string(),
        None => name.trim().to_string(),
    }
}

/// What a copy or a set is called, without the kinds of memory: `Memcpy HtoD (Pageable -> Device)`
/// is `Memcpy HtoD`.
pub(super) fn transfer(name: &str) -> String {
    name.split('(').next().unwrap_or_default().trim().to_string()
}

/// A name as a table can hold it, which has none of blanks alone and none around others.
pub(super) fn shown(name: &str) -> &str {
    match name.trim() {
        "" => "unnamed",
        name => name,
    }
}

/// Whether a kernel is one of NCCL's or RCCL's, whose names all begin so.
pub(super) fn is_collective(kernel: &str) -> bool {
    kernel.starts_with("nccl")
}

/// Whether a call of the host does nothing but wait for a device: `cudaDeviceSynchronize`,
/// `cuCtxSynchronize`, `hipStreamSynchronize`...
pub(super) fn is_wait(call: &str) -> bool {
    call.contains("Synchronize")
}

/// Whether a call of the host has a device do something: `cudaLaunchKernel`, `cuLaunchKernelEx`,
/// `cudaGraphLaunch`... Calls that set up or query launches are none.
pub(super) fn is_launch(call: &str) -> bool {
    call.contains("LaunchKernel") || call.contains("GraphLaunch")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_called_by_its_base_name() {
        for (full, base) in [
            (
                "void at::native::(anonymous namespace)::fill<4, F<float> >(int, F)",
                "at::native::fill",
            ),
            ("ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_tn"),
            (
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
                "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
            ),
            ("saxpy(int, float*)", "saxpy"),
            ("<unnamed>", "<unnamed>"),
        ] {
            assert_eq!(kernel(full), base);
        }
        assert_eq!(transfer("Memcpy DtoH (Device -> Pinned)"), "Memcpy DtoH");
        assert_eq!(["", " ", " a b "].map(shown), ["unnamed", "unnamed", "a b"]);
        assert!(is_collective("ncclDevKernel_AllReduce") && !is_collective("ampere_nccl"));
        assert!(is_launch("cudaLaunchKernelExC_v11060") && !is_launch("cudaLaunchHostFunc"));
    }
}
