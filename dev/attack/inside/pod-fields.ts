// Fields of pods by which others than the platform give something to a pod: devices, certificates, bundles of authorities; and
// those that change only what the pod itself believes about names (hostAliases, dnsConfig), which open no connection that the
// network did not allow before.
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack, Attempt } from '../attack.ts'
import { type ApiAttempt, apiAttempts, corePath } from '../cluster/api-attempts.ts'
import { podSpec, templates } from '../cluster/mounts.ts'
import { judgeApi } from '../judge.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { HttpAnswer } from '../world/http.ts'
import type { World } from '../world/world.ts'
import { requireControls } from './network.ts'

const pods = corePath(neighbourNamespace, 'pods')

type Fields = Readonly<Record<string, unknown>>
type Source = readonly [what: string, field: string, more: Fields, container?: Fields]

const projected = (source: object): Fields => ({ volumes: [{ name: 'v', projected: { sources: [source] } }] })
const certificateOf = (signerName: string): Fields =>
  projected({ podCertificate: { signerName, keyType: 'ED25519', credentialBundlePath: 'bundle.pem' } })

const sources: readonly Source[] = [
  [
    'a device by claim',
    'resourceClaims',
    { resourceClaims: [{ name: 'd', resourceClaimName: 'attack' }] },
    { resources: { claims: [{ name: 'd' }], limits: { memory: '64Mi' }, requests: { cpu: '10m', memory: '32Mi' } } },
  ],
  [
    'a device by template',
    'resourceClaims',
    { resourceClaims: [{ name: 'd', resourceClaimTemplateName: 'attack' }] },
    { resources: { claims: [{ name: 'd' }], limits: { memory: '64Mi' }, requests: { cpu: '10m', memory: '32Mi' } } },
  ],
  ['a certificate for the API server', 'podCertificate', certificateOf('kubernetes.io/kube-apiserver-client-pod')],
  ['a certificate of another signer', 'podCertificate', certificateOf('acme.example/mesh')],
  [
    'a bundle of authorities by name',
    'clusterTrustBundle',
    projected({ clusterTrustBundle: { name: 'attack', path: 'ca.pem', optional: true } }),
  ],
  [
    'the bundles of a signer',
    'clusterTrustBundle',
    projected({ clusterTrustBundle: { signerName: 'acme.example/mesh', path: 'ca.pem', optional: true, labelSelector: {} } }),
  ],
]

/** What the API server drops, because its feature gate is off, is not in the object that it answers. */
function judgeField(field: string): (answer: HttpAnswer) => Verdict {
  return answer => {
    if (answer.status >= 300 || answer.text.includes(`"${field}"`)) return judgeApi(answer)
    return stopped('schema', `${answer.status}: the API server dropped ${field}`)
  }
}

async function sourceAttempts(world: World): Promise<readonly Attempt[]> {
  const image = await world.ownImage()
  const plans = sources.flatMap(([what, field, more, container]): readonly ApiAttempt[] => {
    const spec = podSpec(image, more, container)
    const common = { as: 'gary', method: 'POST', dry: true, judge: judgeField(field) } as const
    return [
      {
        ...common,
        name: `Pod with ${what}`,
        path: pods,
        json: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'attack-source' }, spec },
      },
      ...templates(spec).map(([kind, path, json]): ApiAttempt => ({ ...common, name: `${kind} with ${what}`, path, json })),
    ]
  })
  return apiAttempts(world, plans)
}

/** A pod of globex with these fields prints what its script found. */
async function printed(world: World, name: string, fields: Fields, script: string): Promise<string> {
  const path = `${pods}/${name}`
  await world.journal.note({ kind: 'object', path })
  const spec = podSpec(await world.ownImage(), fields, { command: ['/usr/local/bin/node', '-e', script] })
  const answer = await world.api('gary', 'POST', pods, { json: { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec } })
  if (answer.status !== 201) throw new Error(`${answer.status} ${answer.text}`)
  await waitUntil(
    'the pod to end',
    async () => {
      const { status } = (await world.admin.call('GET', path)) as { status?: { phase?: string } }
      return ['Succeeded', 'Failed'].includes(status?.phase ?? '')
    },
    { timeoutMilliseconds: limits.rollout },
  )
  return (await world.api('gary', 'GET', `${path}/log`)).text.trim()
}

const connecting = (host: string, port: number): string =>
  `const s = require('net').connect({ host: '${host}', port: ${port} });
   const end = t => { console.log(t); process.exit(0) };
   s.on('connect', () => end('connected')); s.on('error', e => end('refused ' + e.code)); setTimeout(() => end('timeout'), 5000)`

function judgeReach(text: string): Verdict {
  if (text === 'connected' || text.startsWith('answered')) return succeeded(text)
  return text === 'timeout' || text.startsWith('refused') ? stopped('network', text) : unclear(text)
}

async function nameAttempts(world: World): Promise<readonly Attempt[]> {
  await requireControls(world)
  const { pod } = world.targets.victim
  const alias = { hostAliases: [{ ip: pod.address, hostnames: ['site.globex.svc', 'kubernetes.default.svc'] }] }
  const resolver = { dnsPolicy: 'None', dnsConfig: { nameservers: [pod.address] } }
  const asking = `const { Resolver } = require('dns'); const r = new Resolver({ timeout: 2000, tries: 1 });
    r.resolve4('shop.acme.svc.cluster.local', (e, a) => console.log(e ? 'refused ' + e.code : 'answered ' + a))`
  return [
    {
      name: 'gary: a pod of acme under a name of one’s own (hostAliases)',
      run: async () =>
        judgeReach(await printed(world, 'attack-alias', alias, connecting('site.globex.svc', pod.ports[0] ?? 3000))),
    },
    {
      name: 'gary: a pod of acme as DNS server (dnsConfig)',
      run: async () => judgeReach(await printed(world, 'attack-resolver', resolver, asking)),
    },
  ]
}

export const podFieldAttacks: readonly Attack[] = [
  {
    name: 'pods/given-by-others',
    as: 'gary, admin of globex',
    against: 'drivers and signers of the cluster, which act with rights of their own',
    tries: 'Pods and templates with devices (resourceClaims), certificates for pods, and bundles of authorities.',
    expected: ['admission', 'schema'],
    attempts: sourceAttempts,
  },
  {
    name: 'pods/names',
    as: 'a pod of globex that names its own hosts and DNS servers',
    against: 'a pod of acme',
    tries: 'Reaches a pod of acme by hostAliases, and as a DNS server by dnsConfig.',
    expected: ['network'],
    attempts: nameAttempts,
  },
]
