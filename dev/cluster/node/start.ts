// Turns this machine into the cluster's only node; starts its programs in the order of their dependencies.
// It must never change anything on the host that the host record does not already name.
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { Programs } from '../binaries/ensure-binary.ts'
import { openAuthority } from '../pki/authority.ts'
import type { Program } from '../processes/supervise.ts'
import { ensureRunning, hasEnded } from '../processes/supervise.ts'
import { applyExtraRoles, writeNodeAccess } from './access.ts'
import { writeCniConfiguration } from './cni.ts'
import { kubeletProgram } from './kubelet.ts'
import type { NodeContext } from './layout.ts'
import { startNetworkPolicies } from './network-policies.ts'
import { buildProgramImage, importProgramImage } from './program-image.ts'
import { nodeReady } from './ready.ts'
import { startContainerd } from './runtime/containerd.ts'
import { proxyProgram, schedulerProgram } from './scheduling.ts'
import { startCoreDns } from './services/coredns.ts'
import { startRegistries } from './services/registry.ts'
import { startTraefik } from './services/traefik.ts'

export type NodePrograms = {
  readonly kubernetes: Programs
  readonly pause: Programs
  readonly networkPolicies: Programs
  /** Built last, while the node already starts. */
  readonly coredns: Promise<Programs>
  readonly traefik: Promise<Programs>
}

const readyMilliseconds = 90_000

export async function startNode(context: NodeContext, programs: NodePrograms, pkiFolder: string): Promise<void> {
  const { settings, layout, folders, progress, controlPlane } = context
  const authority = await openAuthority(pkiFolder, 'ca', 'sekisho-dev-ca')
  const kubernetes = programs.kubernetes
  const run = async (program: Program): Promise<void> => {
    const what = await ensureRunning(program, folders)
    if (what !== 'running') progress.note(`${program.name} ${what}`)
  }
  await progress.step('registries', () => startRegistries(context, pkiFolder))
  await applyExtraRoles(controlPlane.admin)
  const policyAccess = await writeNodeAccess(context, authority, 'network-policies')
  // Before containerd: no pod may run unjudged.
  await progress.step('network policies', () =>
    startNetworkPolicies(context, programs.networkPolicies.path('network-policies'), policyAccess),
  )
  await writeCniConfiguration(settings, layout)
  const pause = await buildProgramImage('pause', programs.pause.path('pause'), layout.folder)
  await progress.step('containerd', () => startContainerd(context, pause.name, authority.files.certificate))
  await importProgramImage(context, pause)

  const serving = {
    commonName: settings.nodeName,
    usage: 'server',
    names: [settings.nodeName],
    addresses: [settings.nodeAddress],
  } as const
  const kubeletServing = await authority.leaf('kubelet-serving', serving)
  const kubeletAccess = await writeNodeAccess(context, authority, 'kubelet')
  await run(await kubeletProgram(context, kubernetes.path('kubelet'), kubeletAccess, kubeletServing))
  const schedulerAccess = await writeNodeAccess(context, authority, 'kube-scheduler')
  await run(schedulerProgram(context, kubernetes.path('kube-scheduler'), schedulerAccess))
  const proxyAccess = await writeNodeAccess(context, authority, 'kube-proxy')
  await run(await proxyProgram(context, kubernetes.path('kube-proxy'), proxyAccess))
  await progress.step('node', () =>
    waitUntil(`node ${settings.nodeName} to be Ready`, () => nodeReady(context), {
      timeoutMilliseconds: readyMilliseconds,
      hopeless: async () => (await hasEnded('kubelet', folders)) ?? hasEnded('containerd', folders),
    }),
  )
  const coredns = await programs.coredns
  await progress.step('cluster DNS', () => startCoreDns(context, coredns.path('coredns')))
  const ingressAccess = await writeNodeAccess(context, authority, 'traefik')
  const traefik = await programs.traefik
  await progress.step('Traefik', () => startTraefik(context, traefik.path('traefik'), ingressAccess))
}
