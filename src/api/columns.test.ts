// What `kubectl get` prints of each kind fits a terminal, with names and reasons of a usual length. `kubectl get -o wide` has
// the rest.
// Source of the padding: https://github.com/kubernetes/cli-runtime/blob/v0.34.0/pkg/printers/tabwriter.go
import { expect, test } from 'vitest'
import { kinds } from './registry.ts'

const maxCharacters = 100
const padding = 3

/** What stands in a column; a column without a row here is as wide as its title. */
const typical: Readonly<Record<string, string>> = {
  '.metadata.name': 'shop-backend',
  '.metadata.creationTimestamp': '365d',
  '.spec.account.login': 'acme',
  '.spec.appId': '1234567',
  '.spec.application.name': 'shop-backend',
  '.spec.boundBy.login': 'octocat-olivia',
  '.spec.by.login': 'octocat-olivia',
  '.spec.by.name': 'github|github.com|1234567',
  '.spec.commit': 'c'.repeat(40),
  '.spec.configMap.name': 'shop-chart',
  '.spec.delivery': 'TokenEndpoint',
  '.spec.follower.name': 'shop-backend',
  '.spec.headCommit': 'c'.repeat(40),
  '.spec.host': 'github.com',
  '.spec.image': `registry.example.com/acme/shop@sha256:${'d'.repeat(64)}`,
  '.spec.installationId': '12345678',
  '.spec.namespace': 'acme',
  '.spec.pipeline.name': 'shop-backend',
  '.spec.proof': 'DNS',
  '.spec.reason': 'EnvironmentChanged',
  '.spec.repositories': '["acme/shop-backend"]',
  '.spec.repository': 'acme/shop-backend',
  '.spec.requestedBy': 'github|github.com|1234567',
  '.spec.tenant.name': 'acme',
  '.status.build.queue': '2nd of 12',
  '.status.commit': 'c'.repeat(40),
  '.status.decision': 'Approved',
  '.status.imageCommit': 'c'.repeat(40),
  '.status.url': 'https://shop.acme.apps.example.com',
}

const typicalReason = 'InstallationNotReady'

test.each(kinds.map(kind => [kind.kind, kind] as const))('%s', (_name, { options: { columns } }) => {
  const usual = columns.filter(({ priority = 0 }) => priority === 0)
  const width = ({ name, jsonPath }: { readonly name: string; readonly jsonPath: string }): number => {
    const said = /@\.type.*\.reason$/.test(jsonPath) ? typicalReason : typical[jsonPath]
    return Math.max(name.length, said?.length ?? 0)
  }
  const all = [{ name: 'Name', jsonPath: '.metadata.name' }, ...usual].map(width)
  expect(all.reduce((sum, one) => sum + one + padding, -padding)).toBeLessThanOrEqual(maxCharacters)
})

test('a grant says of which repositories it is', () => {
  const grant = kinds.find(({ kind }) => kind === 'RepositoryGrant')
  expect(
    grant?.options.columns.find(({ priority = 0, jsonPath }) => priority === 0 && jsonPath === '.spec.repositories'),
  ).toBeDefined()
})
