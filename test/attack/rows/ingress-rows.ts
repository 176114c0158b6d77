// Attacks by Ingresses: who writes them, and what not even a chart may put into one.
import { clusterAdministrator, controllers, dave, garbageCollector, impostor } from '../identities.ts'
import type { Body, Existing } from '../objects.ts'
import { allowed, expecting, type Row } from './row.ts'

const refused = expecting('ingress-writers')
const refusedContent = expecting('ingress-content')
const refusedByAll = expecting('ingress-writers', 'ingress-content', 'reserved-metadata')
const ingresses = '/apis/networking.k8s.io/v1/namespaces/acme/ingresses'
const backend = { service: { name: 's', port: { number: 80 } } }
const paths = [{ path: '/', pathType: 'Prefix', backend }]

function ingress(name: string, spec: object = {}, annotations: object = {}): Body {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'Ingress',
    metadata: { name, annotations },
    spec: { rules: [{ host: 'shop.acme.test', http: { paths } }], ...spec },
  }
}

const contents: readonly (readonly [string, Body])[] = [
  ['a default backend', ingress('x', { defaultBackend: backend })],
  ['no host', ingress('x', { rules: [{ http: { paths } }] })],
  ['a wildcard', ingress('x', { rules: [{ host: '*.acme.test', http: { paths } }] })],
  ['configuration text', ingress('x', {}, { 'nginx.ingress.kubernetes.io/configuration-snippet': 'x' })],
  ['another server to authenticate at', ingress('x', {}, { 'nginx.ingress.kubernetes.io/auth-url': 'http://example.com' })],
  ['another host by annotation', ingress('x', {}, { 'nginx.ingress.kubernetes.io/server-alias': 'example.com' })],
  ['a foreign class by annotation', ingress('x', {}, { 'kubernetes.io/ingress.class': 'internal' })],
  ['another middleware', ingress('x', {}, { 'traefik.ingress.kubernetes.io/router.middlewares': 'a-b@kubernetescrd' })],
]

const middleware = { 'traefik.ingress.kubernetes.io/router.middlewares': 'sekisho-system-www@kubernetescrd' }

/** As the controllers make it for `spec.redirects`. */
export function redirect(name: string, annotations: object = middleware, label = 'true'): Body {
  const made = ingress(name, {}, annotations)
  return { ...made, metadata: { name, annotations, labels: { 'sekisho.dev/redirect': label } } }
}

export const ingressFixtures: readonly Existing[] = [
  { path: ingresses, object: ingress('held') },
  { path: ingresses, object: redirect('redirecting') },
]

export const ingressRows: readonly Row[] = [
  ...[dave, impostor].flatMap(as => [
    refused.post(`${as.user} makes an Ingress`, as, ingresses, ingress('x')),
    refused.patch(`${as.user} changes an Ingress`, as, `${ingresses}/held`, { metadata: { labels: { a: 'b' } } }),
  ]),
  ...contents.map(([what, body]) =>
    refusedContent.post(`the platform makes an Ingress with ${what}`, controllers, ingresses, body),
  ),
  ...[dave, impostor].flatMap(as => [
    refusedByAll.post(`${as.user} makes an Ingress that looks like one that redirects`, as, ingresses, redirect('x')),
    refusedByAll.patch(`${as.user} changes the annotations of one that redirects`, as, `${ingresses}/redirecting`, {
      metadata: { annotations: { 'nginx.ingress.kubernetes.io/configuration-snippet': 'x' } },
    }),
  ]),
  refusedContent.post('the platform makes an Ingress that redirects and takes every host', controllers, ingresses, {
    ...redirect('x'),
    spec: { rules: [{ http: { paths } }] },
  }),
  refusedContent.post(
    'the platform makes an Ingress whose label only looks like that of one that redirects',
    controllers,
    ingresses,
    redirect('x', middleware, 'false'),
  ),
  refusedContent.post('a cluster administrator makes an Ingress that redirects', clusterAdministrator, ingresses, redirect('x')),
  refusedContent.patch(
    'a cluster administrator changes where an Ingress redirects',
    clusterAdministrator,
    `${ingresses}/redirecting`,
    {
      metadata: { annotations: { 'traefik.ingress.kubernetes.io/router.middlewares': 'a-b@kubernetescrd' } },
    },
  ),
  refusedContent.patch('the garbage collector makes an Ingress redirect', garbageCollector, `${ingresses}/held`, {
    metadata: { annotations: middleware, labels: { 'sekisho.dev/redirect': 'true' } },
  }),
  refusedContent.patch(
    'the platform takes the label off an Ingress and keeps its annotations',
    controllers,
    `${ingresses}/redirecting`,
    {
      metadata: { labels: { 'sekisho.dev/redirect': null } },
    },
  ),
  allowed.post('the platform makes an Ingress that redirects', controllers, ingresses, redirect('x')),
  allowed.patch('the platform changes where an Ingress redirects', controllers, `${ingresses}/redirecting`, {
    metadata: { annotations: { 'traefik.ingress.kubernetes.io/router.middlewares': 'other@file' } },
  }),
  allowed.patch('a cluster administrator repairs an Ingress that redirects', clusterAdministrator, `${ingresses}/redirecting`, {
    metadata: { labels: { a: 'b' } },
  }),
  allowed.patch(
    'the garbage collector removes an owner of an Ingress that redirects',
    garbageCollector,
    `${ingresses}/redirecting`,
    {
      metadata: { ownerReferences: [] },
    },
  ),
  refusedContent.post(
    'a cluster administrator makes one without a host',
    clusterAdministrator,
    ingresses,
    ingress('x', { rules: [{ http: { paths } }] }),
  ),
  allowed.post(
    'the platform makes an Ingress',
    controllers,
    ingresses,
    ingress('x', {}, { 'cert-manager.io/cluster-issuer': 'acme' }),
  ),
  allowed.patch('the platform changes an Ingress', controllers, `${ingresses}/held`, { spec: { ingressClassName: 'traefik' } }),
  allowed.patch('a cluster administrator repairs an Ingress', clusterAdministrator, `${ingresses}/held`, {
    metadata: { labels: { a: 'b' } },
  }),
  allowed.patch('the garbage collector removes an owner', garbageCollector, `${ingresses}/held`, {
    metadata: { ownerReferences: [] },
  }),
  allowed.post('an Ingress elsewhere', dave, ingresses.replace('/acme/', '/other/'), ingress('x', { defaultBackend: backend })),
]
