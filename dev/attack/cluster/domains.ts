// Host names and the ingress: hosts of others and unclaimed ones, texts that are not host names, and Ingresses of one's own.
import { neighbourNamespace } from '../../demo/context.ts'
import type { Attack } from '../attack.ts'
import { application } from '../deputies/manifests.ts'
import { objectAttempt } from '../deputies/object-attempts.ts'
import { applicationsPath, type World } from '../world/world.ts'
import { type ApiAttempt, apiAttempts, groupPath, mergePatch } from './api-attempts.ts'

const networking = 'networking.k8s.io/v1'

/** Hosts that globex has no right to, and what of them is wrong. */
function foreignHosts({ targets }: World): readonly string[] {
  const [victim = ''] = targets.victim.host.split(':')
  const platform = victim.split('.').slice(2).join('.')
  const namedHosts = [targets.issuer, targets.apiServer, targets.settings['SEKISHO_APPLICATION_URL'] ?? ''].map(
    url => new URL(url).hostname,
  )
  return [
    ...new Set([
      victim,
      `other.acme.${platform}`,
      `acme.${platform}`,
      platform,
      ...namedHosts,
      'sekisho-broker.sekisho-system.svc',
      `sekisho-token-desk.sekisho-system.svc.${targets.clusterDomain}`,
      'kubernetes.default.svc',
      'github.com',
      'example.com',
      'www.acme.example',
    ]),
  ]
}

/** A host in the zone of globex, which its Applications may have. */
function ownHost({ targets }: World, index: number): string {
  const [victim = ''] = targets.victim.host.split(':')
  return `attack-redirect-${index}.${neighbourNamespace}.${victim.split('.').slice(2).join('.')}`
}

/** Texts that are not host names, or name another host to some reader. */
const malformedHosts = [
  '*.acme.localhost',
  'SHOP.acme.localhost',
  'shop.acme.localhost.',
  'shop.acme.localhost:8080',
  'ѕhop.acme.localhost',
  'a b',
  "x'; rm -rf /",
  '../x',
  'x\ny',
  `${'a'.repeat(250)}.com`,
]

/** An Ingress of globex for the host. */
async function ingressFor(world: World, host: string): Promise<string | undefined> {
  const answer = await world.admin.request('GET', groupPath(networking, neighbourNamespace, 'ingresses'))
  const { items } = answer.body as {
    items: readonly { metadata: { name: string }; spec: { rules?: readonly { host?: string }[] } }[]
  }
  const found = items.find(({ spec }) => spec.rules?.some(rule => rule.host === host))
  return found === undefined ? undefined : `Ingress globex/${found.metadata.name} serves ${host}`
}

export const domainAttacks: readonly Attack[] = [
  {
    name: 'names/domains',
    as: 'gary, admin of globex',
    against: 'host names of acme, of the platform, of the API server, and of the world',
    tries: 'An Application requests a host that belongs to another tenant, or that is not proved.',
    expected: ['admission', 'controller', 'schema'],
    attempts: async world => {
      const image = await world.ownImage()
      return foreignHosts(world).map((host, index) =>
        objectAttempt(world, {
          name: `domain ${host}`,
          path: applicationsPath,
          object: application(`attack-domain-${index}`, image, { domains: [host] }),
          refusals: /^Domain|^RefusedByCluster$/,
          harm: () => ingressFor(world, host),
        }),
      )
    },
  },
  {
    name: 'names/redirects',
    as: 'gary, admin of globex',
    against: 'host names of acme, of the platform, of the API server, and people who follow a link of globex',
    tries: 'An Application redirects a host that is not its own, or leads people to one that is not its own.',
    expected: ['controller', 'admission', 'schema'],
    attempts: async world => {
      const image = await world.ownImage()
      const redirecting = (index: number, from: string, to: string) =>
        application(`attack-redirect-${index}`, image, { domains: [ownHost(world, index)], redirects: [{ from, to }] })
      return [
        ...foreignHosts(world).map((host, index) =>
          objectAttempt(world, {
            name: `redirect from ${host}`,
            path: applicationsPath,
            object: redirecting(index, host, ownHost(world, index)),
            refusals: /^Domain|^RefusedByCluster$/,
            refusedIn: { type: 'Redirecting', reason: 'RedirectNotSupported' },
            harm: () => ingressFor(world, host),
          }),
        ),
        ...apiAttempts(
          world,
          [...foreignHosts(world), ...malformedHosts].map(
            (host, index): ApiAttempt => ({
              as: 'gary',
              method: 'POST',
              path: applicationsPath,
              json: redirecting(index, `www.${ownHost(world, index)}`, host),
              name: `redirect to ${JSON.stringify(host).slice(0, 60)}`,
              dry: true,
            }),
          ),
        ),
      ]
    },
  },
  {
    name: 'names/malformed-domains',
    as: 'gary, admin of globex',
    against: 'the ingress and everything that reads host names',
    tries: 'Host names with wildcards, capitals, ports, homoglyphs, shell text, line breaks.',
    expected: ['schema', 'admission'],
    attempts: async world => {
      const image = await world.ownImage()
      return apiAttempts(
        world,
        malformedHosts.map(
          (host): ApiAttempt => ({
            as: 'gary',
            method: 'POST',
            path: applicationsPath,
            json: application('attack-malformed', image, { domains: [host] }),
            name: `domain ${JSON.stringify(host).slice(0, 60)}`,
            dry: true,
          }),
        ),
      )
    },
  },
  {
    name: 'names/ingresses',
    as: 'gary, admin of globex',
    against: 'the ingress',
    tries:
      'Ingresses, IngressClasses, Gateways and routes of one’s own, and changes of the chart’s Ingress, with annotations that controllers obey.',
    expected: ['RBAC'],
    attempts: world => {
      const ingresses = groupPath(networking, neighbourNamespace, 'ingresses')
      const ingress = {
        apiVersion: networking,
        kind: 'Ingress',
        metadata: { name: 'attack', annotations: { 'nginx.ingress.kubernetes.io/server-snippet': 'return 200;' } },
        spec: { ingressClassName: 'nginx', rules: [{ host: 'shop.acme.localhost' }] },
      }
      const annotate = { metadata: { annotations: { 'traefik.ingress.kubernetes.io/router.middlewares': 'x@kubernetescrd' } } }
      return apiAttempts(world, [
        { as: 'gary', method: 'POST', path: ingresses, json: ingress, dry: true },
        { as: 'gary', method: 'PATCH', path: `${ingresses}/site`, json: annotate, contentType: mergePatch, dry: true },
        { as: 'gary', method: 'PUT', path: `${ingresses}/site`, json: ingress, dry: true },
        { as: 'gary', method: 'DELETE', path: groupPath(networking, 'acme', 'ingresses'), dry: true },
        {
          as: 'gary',
          method: 'POST',
          path: `/apis/${networking}/ingressclasses`,
          json: { apiVersion: networking, kind: 'IngressClass', metadata: { name: 'attack' }, spec: { controller: 'x/y' } },
        },
        {
          as: 'gary',
          method: 'POST',
          path: '/apis/gateway.networking.k8s.io/v1/namespaces/globex/httproutes',
          json: { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', metadata: { name: 'attack' } },
        },
        {
          as: 'gary',
          method: 'POST',
          path: '/apis/traefik.io/v1alpha1/namespaces/globex/ingressroutes',
          json: { apiVersion: 'traefik.io/v1alpha1', kind: 'IngressRoute', metadata: { name: 'attack' } },
        },
      ])
    },
  },
]
