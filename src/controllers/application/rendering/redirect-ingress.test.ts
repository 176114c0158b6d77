// The Ingresses that redirect: where they lead when nobody answers before, and their certificates.
import { describe, expect, test } from 'vitest'
import { objectAt } from '../../../lib/json/json-value.ts'
import { redirectIngressName } from '../domains/redirects.ts'
import { type AllowedRedirects, redirectIngresses } from './redirect-ingress.ts'

const backend = { service: { name: 'shop', port: { name: 'http' } } }
const elsewhere = { service: { name: 'shop-api', port: { name: 'http' } } }

function rendered(host: string, paths: object[] = [{ path: '/', pathType: 'Prefix', backend }]) {
  return { kind: 'Ingress', metadata: { name: 'shop' }, spec: { rules: [{ host, http: { paths } }] } }
}

const annotations = { 'example.com/redirect': 'true' }
const group = { to: 'example.com', from: ['www.example.com', 'old.example.com'], annotations }
const allowed: AllowedRedirects = { ingressClassName: 'traefik', redirects: [group] }
const name = redirectIngressName('shop', 'example.com')

function made(objects: object[], changes: Partial<AllowedRedirects> = {}) {
  return redirectIngresses('shop', objects as Record<string, unknown>[], { ...allowed, ...changes })
}

describe('an Ingress that redirects', () => {
  test('has the hosts, the annotations and the label, and the backend of its target', () => {
    const paths = [{ path: '/', pathType: 'Prefix', backend }]
    expect(made([rendered('other.test', [{ path: '/', backend: elsewhere }]), rendered('example.com')])).toMatchObject([
      {
        name,
        metadata: { labels: { 'sekisho.dev/redirect': 'true' }, annotations },
        object: {
          spec: {
            ingressClassName: 'traefik',
            rules: [
              { host: 'www.example.com', http: { paths } },
              { host: 'old.example.com', http: { paths } },
            ],
          },
        },
      },
    ])
  })

  test('has the backend of the root, not of another path', () => {
    const paths = [
      { path: '/api', backend: elsewhere },
      { path: '/', backend },
    ]
    expect(JSON.stringify(made([rendered('example.com', paths)]))).not.toContain('shop-api')
    expect(JSON.stringify(made([rendered('example.com', paths.slice(0, 1))]))).toContain('shop-api')
  })

  test('does not exist where no Ingress leads to its target', () => {
    expect(made([rendered('other.test')])).toEqual([])
    expect(made([{ ...rendered('example.com'), kind: 'ConfigMap' }])).toEqual([])
  })

  test.each<[string, Partial<AllowedRedirects>, unknown, string | undefined]>([
    ['none without TLS', {}, undefined, undefined],
    ['the certificate of the ingress', { tls: true }, [{ hosts: group.from }], undefined],
    [
      'the Secret of the tenant',
      { tls: true, certificate: { secretName: 'mine' } },
      [{ hosts: group.from, secretName: 'mine' }],
      undefined,
    ],
    [
      'one of its own by an issuer of the namespace',
      { tls: true, certificate: { secretName: 'shop-tls', issuer: { name: 'ca', kind: 'Issuer' } } },
      [{ hosts: group.from, secretName: `${name}-tls` }],
      'cert-manager.io/issuer',
    ],
    [
      'one of its own by an issuer of the cluster',
      { tls: true, certificate: { secretName: 'shop-tls', issuer: { name: 'ca', kind: 'ClusterIssuer' } } },
      [{ hosts: group.from, secretName: `${name}-tls` }],
      'cert-manager.io/cluster-issuer',
    ],
  ])('has %s', (_what, changes, tls, issuer) => {
    const [only] = made([rendered('example.com')], changes)
    expect(objectAt(only?.object, 'spec')?.['tls']).toEqual(tls)
    expect(only?.metadata['annotations']).toEqual(issuer === undefined ? annotations : { ...annotations, [issuer]: 'ca' })
  })
})
