// Connections from a pod of globex to places that tenants must not reach. A place counts as walled off only when it listens, as
// this host sees it, and the same pod reaches what it needs.

import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { ProbeResult } from '../agent/probe.ts'
import type { Attack, Attempt } from '../attack.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import { listens, platformAddress, platformAddresses } from '../world/targets.ts'
import type { World } from '../world/world.ts'

/** `address`: where this host looks whether the place listens, when `host` is a name that it cannot resolve. */
type Place = { readonly what: string; readonly host: string; readonly port: number; readonly address?: string }

/** The pod must resolve names and reach the token desk: then its silence elsewhere means something. */
export async function requireControls(world: World): Promise<void> {
  const desk = 'sekisho-token-desk.sekisho-system.svc'
  await waitUntil('control: the pod of globex to reach the token desk by its name', async () => {
    const result = await world.probe({ kind: 'tcp', host: desk, port: 443 })
    if (result.kind === 'connected') return true
    throw new Error(JSON.stringify(result))
  })
}

function isSilent({ kind }: ProbeResult): boolean {
  return kind === 'timeout' || kind === 'refused'
}

/**
 * `alive`: something listens there, as this host sees it. `walled`: policies are enforced for this pod, as its silence
 * elsewhere shows.
 */
export type Seen = { readonly alive: boolean; readonly walled: boolean }

export function judgeConnection(result: ProbeResult, { alive, walled }: Seen): Verdict {
  if (result.kind === 'connected') return succeeded('connected')
  if (isSilent(result) && alive) return stopped('network', `${result.kind}, while the place answers this host`)
  if (result.kind === 'refused') return stopped('absent', 'nothing listens there, neither for the pod nor for this host')
  if (result.kind === 'timeout' && walled) return stopped('network', 'timeout, and policies are enforced for this pod')
  return unclear(JSON.stringify(result))
}

/** Whether the pod of globex cannot reach the pod of acme, which runs: then policies are enforced for it. */
async function isWalled(world: World): Promise<boolean> {
  const { address: host } = world.targets.victim.pod
  return (await listens(host, 3000)) && isSilent(await world.probe({ kind: 'tcp', host, port: 3000 }))
}

/** Whether it reaches the pod of acme, which must answer this host: otherwise its silence means nothing. */
export async function podsMeet(world: World): Promise<boolean> {
  const { address: host } = world.targets.victim.pod
  if (!(await listens(host, 3000))) throw new Error(`the pod of acme does not answer at ${host}:3000`)
  return (await world.probe({ kind: 'tcp', host, port: 3000 })).kind === 'connected'
}

function reach(world: World, { what, host, port, address = host }: Place, walled: boolean): Attempt {
  return {
    name: `pod of globex → ${what} (${host}:${port})`,
    async run() {
      const alive = await listens(address, port)
      return judgeConnection(await world.probe({ kind: 'tcp', host, port }), { alive, walled })
    },
  }
}

function reachAll(places: (world: World) => readonly Place[]): Attack['attempts'] {
  return async world => {
    await requireControls(world)
    const walled = await isWalled(world)
    return places(world).map(place => reach(world, place, walled))
  }
}

/** What a pod of a tenant may reach of the platform. */
const allowed = ['sekisho-token-desk', 'sekisho-git-proxy', 'kube-dns']
const allowedPorts = [8444, 8448]

function platformPlaces({ targets }: World): readonly Place[] {
  return [
    ...targets.platformPods.flatMap(({ namespace, name, address, ports }) =>
      ports.filter(port => !allowedPorts.includes(port)).map(port => ({ what: `pod ${namespace}/${name}`, host: address, port })),
    ),
    ...targets.services
      .filter(({ name, address }) => !allowed.includes(name) && address !== 'None')
      .flatMap(({ namespace, name, address, ports }) =>
        ports.map(port => ({ what: `Service ${namespace}/${name}`, host: address, port })),
      ),
  ]
}

function nodePlaces({ targets, settings }: World): readonly Place[] {
  const { nodeAddress: host } = targets
  return [
    { what: 'API server', host, port: settings.ports.apiServer },
    { what: 'kubelet', host, port: 10_250 },
    { what: 'kubelet, read only', host, port: 10_255 },
    { what: 'etcd', host, port: settings.ports.etcdClient },
    { what: 'etcd of peers', host, port: settings.ports.etcdPeer },
    { what: 'controller manager', host, port: settings.ports.controllerManager },
    { what: 'scheduler', host, port: settings.schedulerPort },
    { what: 'kube-proxy metrics', host, port: 10_249 },
    { what: 'ssh', host, port: 22 },
  ]
}

/** Where clouds answer with the credentials of the machine. */
const metadataPlaces: readonly Place[] = [
  { what: 'metadata of AWS, Google, Azure and others', host: '169.254.169.254', port: 80 },
  { what: 'credentials of ECS tasks', host: '169.254.170.2', port: 80 },
  { what: 'EKS pod identity', host: '169.254.170.23', port: 80 },
  { what: 'metadata of Scaleway', host: '169.254.42.42', port: 80 },
  { what: 'Azure wire server', host: '168.63.129.16', port: 80 },
  { what: 'Azure host plug-in', host: '168.63.129.16', port: 32_526 },
  { what: 'metadata of Alibaba Cloud', host: '100.100.100.200', port: 80 },
  { what: 'metadata of Oracle Cloud', host: '192.0.0.192', port: 80 },
]

/** Nothing listens here: silence counts only when the policy was seen to refuse elsewhere. */
async function metadataAttempts(world: World): Promise<readonly Attempt[]> {
  await requireControls(world)
  const walled = await isWalled(world)
  return metadataPlaces.map(({ what, host, port }) => ({
    name: `pod of globex → ${what} (${host}:${port})`,
    async run() {
      const result = await world.probe({ kind: 'tcp', host, port })
      if (result.kind === 'connected') return succeeded('connected')
      if (!isSilent(result)) return unclear(JSON.stringify(result))
      return walled
        ? stopped('network', `${result.kind}, and policies are enforced for this pod`)
        : unclear(`${result.kind}, but no policy is enforced for this pod: in a cloud it would be answered`)
    },
  }))
}

export const networkAttacks: readonly Attack[] = [
  {
    name: 'network/other-tenants',
    as: 'a pod of globex',
    against: 'the pods and Services of acme',
    tries: 'Connects to the application of acme by the address of its pod, of its Service, and by its name.',
    expected: ['network'],
    attempts: reachAll(({ targets: { victim, clusterDomain } }) => [
      { what: 'pod of acme', host: victim.pod.address, port: 3000 },
      ...victim.service.ports.flatMap(port => [
        { what: 'Service of acme', host: victim.service.address, port },
        {
          what: 'Service of acme by name',
          host: `${victim.service.name}.acme.svc.${clusterDomain}`,
          port,
          address: victim.service.address,
        },
      ]),
    ]),
  },
  {
    name: 'network/platform',
    as: 'a pod of globex',
    against: 'broker, admission, source store, metrics, kpack, API server',
    tries: 'Connects to every port of the platform’s pods and Services but the token desk’s.',
    expected: ['network', 'absent'],
    attempts: reachAll(platformPlaces),
  },
  {
    name: 'network/node',
    as: 'a pod of globex',
    against: 'the node: kubelet, etcd, API server, controllers',
    tries: 'Connects to the ports of the node that run the cluster.',
    expected: ['network', 'absent'],
    attempts: reachAll(nodePlaces),
  },
  {
    name: 'network/metadata',
    as: 'a pod of globex',
    against: 'the metadata services of clouds, which issue the node’s credentials',
    tries: 'Connects to the addresses at which clouds answer every pod.',
    expected: ['network'],
    attempts: metadataAttempts,
  },
  {
    name: 'network/what-answers',
    as: 'a pod of globex without a credential',
    against: 'the places behind the network policies, should a connection come through',
    tries: 'Asks kubelet, API server, admission, authorizer, source store and metrics for what they hold, over HTTP.',
    expected: ['network', 'kubelet', 'authentication', 'broker', 'absent'],
    attempts: async world => {
      await requireControls(world)
      return answers(world)
    },
  },
]

const review = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { uid: 'x', kind: { kind: 'Pod' }, resource: { resource: 'pods' }, operation: 'CREATE' },
})

const accessReview = JSON.stringify({
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  spec: { user: 'system:admin', resourceAttributes: { verb: 'get', resource: 'secrets', name: 'ghtok-x', namespace: 'acme' } },
})

function answers({ targets, settings, probe }: World): readonly Attempt[] {
  const [admission, source] = [platformAddress(targets, 9443), platformAddress(targets, 8081)]
  const node = targets.nodeAddress
  const ask = (name: string, url: string, judge: (status: number, text: string) => Verdict, body?: string): Attempt => ({
    name: `pod of globex asks ${name}`,
    async run() {
      const result = await probe({
        kind: 'http',
        url,
        ...(body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } }),
      })
      if (result.kind === 'answered') return judge(result.status, result.text)
      if (isSilent(result)) return stopped('network', `${url}: ${result.kind}`)
      // A TLS server that demands a client certificate ends the handshake.
      if (result.kind === 'failed' && /SSL|TLS|CERT/i.test(result.code)) return stopped('authentication', result.code)
      return unclear(JSON.stringify(result))
    },
  })
  const refusedBy = (layer: 'kubelet' | 'authentication') => (status: number, text: string) =>
    status === 401 || status === 403 ? stopped(layer, `${status} ${text}`) : succeeded(`${status} ${text}`)
  const nothing = (status: number, text: string): Verdict =>
    status === 404 ? stopped('absent', `404 ${text}`) : succeeded(`${status} ${text}`)
  // The authorizer is optional.
  const reviewed = platformAddresses(targets, 9445).map(address =>
    ask('the authorizer for a verdict', `https://${address}:9445/authorize`, refusedBy('authentication'), accessReview),
  )
  return [
    ask('the kubelet for its pods', `https://${node}:10250/pods`, refusedBy('kubelet')),
    ask(
      'the kubelet for a command in acme’s pod',
      `https://${node}:10250/run/acme/${targets.victim.pod.name}/web`,
      refusedBy('kubelet'),
      'cmd=id',
    ),
    ask('the kubelet for logs', `https://${node}:10250/containerLogs/acme/${targets.victim.pod.name}/web`, refusedBy('kubelet')),
    ask('the API server for Secrets', `https://${node}:${settings.ports.apiServer}/api/v1/secrets`, refusedBy('authentication')),
    ask('etcd for its keys', `http://${node}:${settings.ports.etcdClient}/v2/keys`, refusedBy('authentication')),
    ask('admission for a verdict', `https://${admission}:9443/validate`, refusedBy('authentication'), review),
    ask('admission for a change', `https://${admission}:9443/mutate`, refusedBy('authentication'), review),
    ...reviewed,
    ask('the source store for a list', `http://${source}:8081/`, nothing),
    ask(
      'the source store for a guess',
      `http://${source}:8081/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/info/refs?service=git-upload-pack`,
      nothing,
    ),
  ]
}
