// The three programs of a control plane with their arguments, as a pure function of paths, ports and addresses.
// An argument is never a secret: keys and tokens are passed as files.
import { join } from 'node:path'
import type { Program } from '../processes/supervise.ts'
import type { ControlPlanePorts } from '../settings.ts'
import type { Audited } from './audit-policy.ts'
import type { ControlPlaneCertificates } from './certificates.ts'

export type ControlPlaneLayout = {
  readonly folder: string
  readonly ports: ControlPlanePorts
  /** Where the API server listens. */
  readonly bindAddress: string
  /** The endpoint of the Service `kubernetes`. Pods cannot reach a loopback address, so none is published. */
  readonly advertiseAddress: string
  readonly serviceCidr: string
  readonly podCidr: string
  readonly clusterDomain: string
  readonly audited: Audited
  /** Layers that the API server goes without; only `make attack --without` asks for it. */
  readonly without?: readonly ApiServerLayer[]
}

export type ApiServerLayer = 'authorizer' | 'pod-security'

export type ControlPlanePrograms = { readonly etcd: string; readonly apiServer: string; readonly controllerManager: string }

/** Of 50 MB each. A suite of tests is judged by all that the platform asked for, from its first test on. */
const keptAuditLogs: Readonly<Record<Audited, number>> = { everybody: 5, platform: 40 }

/**
 * Memory for processors: at Go's default of 100 a fifth of the API server's work is garbage collection, and a cluster of one
 * machine shares its processors with all that runs on it. https://go.dev/doc/gc-guide#GOGC
 */
const rareCollection = { GOGC: '300' }

export function configurationFiles(folder: string) {
  return {
    authentication: join(folder, 'config', 'authentication.yaml'),
    authorization: join(folder, 'config', 'authorization.yaml'),
    authorizerKubeconfig: join(folder, 'config', 'authorizer.kubeconfig'),
    admission: join(folder, 'config', 'admission.yaml'),
    webhookKubeconfig: join(folder, 'config', 'admission-webhooks.kubeconfig'),
    audit: join(folder, 'config', 'audit-policy.yaml'),
    controllerManagerKubeconfig: join(folder, 'config', 'controller-manager.kubeconfig'),
  }
}

/** Development only: nothing is synced to disk, so a power failure may lose data. */
export function etcdProgram(path: string, layout: ControlPlaneLayout, certificates: ControlPlaneCertificates): Program {
  const client = `https://127.0.0.1:${layout.ports.etcdClient}`
  const peer = `http://127.0.0.1:${layout.ports.etcdPeer}`
  return {
    name: 'etcd',
    path,
    args: [
      '--name=sekisho',
      `--data-dir=${join(layout.folder, 'etcd')}`,
      '--unsafe-no-fsync',
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=sekisho=${peer}`,
      `--cert-file=${certificates.etcdServer.certificate}`,
      `--key-file=${certificates.etcdServer.key}`,
      `--trusted-ca-file=${certificates.etcdAuthorityFile}`,
      '--client-cert-auth',
      '--auto-compaction-mode=periodic',
      '--auto-compaction-retention=1h',
      '--log-level=warn',
    ],
    configurationFiles: [certificates.etcdServer.certificate, certificates.etcdAuthorityFile],
  }
}

export function apiServerProgram(path: string, layout: ControlPlaneLayout, certificates: ControlPlaneCertificates): Program {
  const files = configurationFiles(layout.folder)
  const reconciler = layout.advertiseAddress.startsWith('127.') ? 'none' : 'lease'
  return {
    name: 'kube-apiserver',
    path,
    args: [
      `--etcd-servers=https://127.0.0.1:${layout.ports.etcdClient}`,
      `--etcd-cafile=${certificates.etcdAuthorityFile}`,
      `--etcd-certfile=${certificates.etcdClient.certificate}`,
      `--etcd-keyfile=${certificates.etcdClient.key}`,
      `--bind-address=${layout.bindAddress}`,
      `--advertise-address=${layout.advertiseAddress}`,
      `--endpoint-reconciler-type=${reconciler}`,
      `--secure-port=${layout.ports.apiServer}`,
      `--tls-cert-file=${certificates.apiServer.certificate}`,
      `--tls-private-key-file=${certificates.apiServer.key}`,
      `--client-ca-file=${certificates.authorityFile}`,
      `--authentication-config=${files.authentication}`,
      `--authorization-config=${files.authorization}`,
      '--enable-admission-plugins=NodeRestriction',
      ...(layout.without?.includes('pod-security') ? ['--disable-admission-plugins=PodSecurity'] : []),
      // On by default from Kubernetes 1.36 on.
      '--feature-gates=MutatingAdmissionPolicy=true',
      '--runtime-config=admissionregistration.k8s.io/v1beta1=true',
      `--admission-control-config-file=${files.admission}`,
      '--allow-privileged',
      `--service-cluster-ip-range=${layout.serviceCidr}`,
      `--service-account-issuer=https://kubernetes.default.svc.${layout.clusterDomain}`,
      `--service-account-key-file=${certificates.serviceAccount.publicKey}`,
      `--service-account-signing-key-file=${certificates.serviceAccount.privateKey}`,
      `--kubelet-client-certificate=${certificates.apiServerToKubelet.certificate}`,
      `--kubelet-client-key=${certificates.apiServerToKubelet.key}`,
      `--kubelet-certificate-authority=${certificates.authorityFile}`,
      '--kubelet-preferred-address-types=InternalIP',
      `--audit-policy-file=${files.audit}`,
      `--audit-log-path=${join(layout.folder, 'logs', 'audit.log')}`,
      '--audit-log-maxsize=50',
      `--audit-log-maxbackup=${keptAuditLogs[layout.audited]}`,
      '--profiling=false',
    ],
    environment: rareCollection,
    // The API server itself watches the authentication and authorization files.
    configurationFiles: [
      certificates.apiServer.certificate,
      certificates.authorityFile,
      certificates.serviceAccount.privateKey,
      files.audit,
      files.admission,
      files.webhookKubeconfig,
    ],
  }
}

export function controllerManagerProgram(
  path: string,
  layout: ControlPlaneLayout,
  certificates: ControlPlaneCertificates,
): Program {
  const kubeconfig = configurationFiles(layout.folder).controllerManagerKubeconfig
  return {
    name: 'kube-controller-manager',
    path,
    args: [
      `--kubeconfig=${kubeconfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${layout.ports.controllerManager}`,
      `--service-account-private-key-file=${certificates.serviceAccount.privateKey}`,
      `--root-ca-file=${certificates.authorityFile}`,
      '--use-service-account-credentials',
      '--leader-elect=false',
      '--allocate-node-cidrs',
      `--flex-volume-plugin-dir=${join(layout.folder, 'volume-plugins')}`,
      `--cluster-cidr=${layout.podCidr}`,
      '--node-cidr-mask-size=24',
      `--service-cluster-ip-range=${layout.serviceCidr}`,
      '--profiling=false',
    ],
    configurationFiles: [kubeconfig, certificates.serviceAccount.privateKey],
  }
}
