from ipykernel.kernelapp import IPKernelApp

from .kernel import MelixKernel

IPKernelApp.launch_instance(kernel_class=MelixKernel)
