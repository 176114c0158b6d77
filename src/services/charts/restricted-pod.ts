// The security settings of every pod of the built-in charts: Pod Security `restricted` and a read-only root file system. Never
// looser.
// Source: https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted
import { k8s } from 'cdk8s-plus-33'

/** The settings of the pod. */
export const restrictedPodSecurity: k8s.PodSecurityContext = {
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
}

/** The settings of each container; a writable root file system is the only choice. */
export function restrictedContainerSecurity(options: { readonly readOnlyRootFilesystem: boolean }): k8s.SecurityContext {
  return {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    privileged: false,
    readOnlyRootFilesystem: options.readOnlyRootFilesystem,
    runAsNonRoot: true,
    seccompProfile: { type: 'RuntimeDefault' },
  }
}

/** A writable folder for a read-only root file system; bounded, so that one pod cannot fill the node's disk. */
export const scratchVolume: k8s.Volume = { name: 'tmp', emptyDir: { sizeLimit: k8s.Quantity.fromString('256Mi') } }
export const scratchMount: k8s.VolumeMount = { name: 'tmp', mountPath: '/tmp' }
