// The one class that we use of @kubernetes/client-node. Imported only when a kubeconfig is read: the library is large.
export { KubeConfig } from '@kubernetes/client-node'
