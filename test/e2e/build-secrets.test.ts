// `spec.build.secrets` with real builds, kpack and BuildKit: code of the build reads the value, which is then in no file of the
// image, in none of its variables and not in the log that the build itself printed it to.
import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readClusterSettings, tenantRegistry } from '../../dev/cluster/settings.ts'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { openBranch } from './branch.ts'
import { applicationManifest, remoteSyncManifest } from './manifests.ts'
import { list, untilReason } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'
import { requestVersion } from './serving.ts'

const branchName = 'e2e-build-secrets'
const secret = 'e2e-build'
const value = `value-of-a-build-${randomBytes(16).toString('hex')}`
const names = ['e2e-secret-pack', 'e2e-secret-docker']
const references = names.flatMap(name => [`remotesync/${name}`, `application/${name}`])

const server = `const { createServer } = require('node:http')
const { readFileSync } = require('node:fs')
createServer((request, response) => response.end(readFileSync('digest.txt'))).listen(Number(process.env.PORT))
`
const digest = `const { createHash } = require('node:crypto')
const { readFileSync, writeFileSync } = require('node:fs')
const value = process.env.BUILD_TOKEN ?? readFileSync('/run/secrets/BUILD_TOKEN', 'utf8')
console.log('the value is ' + value)
writeFileSync('digest.txt', createHash('sha256').update(value).digest('hex'))
`

let platform: Platform
const dave = (args: readonly string[]) => platform.kubectl('dave', [...args, '-n', 'acme'])

beforeAll(async () => {
  platform = await openPlatform(['dave'])
  await platform.remove(references)
  // While a grant names a ServiceAccount of the namespace, nobody of the tenant runs commands in its pods.
  await dave(['delete', 'repositorygrant', 'demo-reader', '--ignore-not-found'])
  const branch = await openBranch(platform.world, branchName)
  await branch.push('a build with a secret', {
    'pack/package.json': JSON.stringify({ name: 'pack', scripts: { build: 'node digest.js', start: 'node server.js' } }),
    'pack/digest.js': digest,
    'pack/server.js': server,
    'docker/digest.js': digest,
    'docker/server.js': server,
    'docker/Dockerfile': [
      ...['ARG BASE', 'FROM $BASE', 'WORKDIR /app', 'COPY . .'],
      'RUN --mount=type=secret,id=BUILD_TOKEN,mode=0444 node digest.js',
      'CMD ["node", "server.js"]\n',
    ].join('\n'),
  })
  const base = `${tenantRegistry(readClusterSettings()).split('/')[0]}/cnb/run:1`
  const builds = {
    'e2e-secret-pack': {},
    'e2e-secret-docker': { strategy: 'Dockerfile', dockerfile: { args: [{ name: 'BASE', value: base }] } },
  }
  const processes = [{ name: 'web', port: 3000, memory: '128Mi' }]
  const metadata = { name: secret, namespace: 'acme' }
  const appSecret = {
    apiVersion: 'apps.sekisho.dev/v1alpha1',
    kind: 'AppSecret',
    metadata,
    spec: { values: { BUILD_TOKEN: value } },
  }
  const objects = Object.entries(builds).flatMap(([name, build]) => [
    applicationManifest(name, { processes }),
    remoteSyncManifest(name, {
      source: { branch: branchName },
      subPath: name.slice('e2e-secret-'.length),
      build: { timeoutSeconds: 300, secrets: [secret], ...build },
    }),
  ])
  await platform.apply('dave', [appSecret, ...objects])
})

afterAll(async () => {
  await platform.remove(references)
  await dave(['delete', 'appsecret', secret, '--ignore-not-found'])
  await platform.admin.close()
})

test.each(names)('%s: the build reads the value, and neither its image nor its log has it', async name => {
  await untilReason(platform.admin, `remotesync/${name}`, 'Deployed', 120)
  await waitUntil(
    `${name} answers with the digest of the value`,
    async () => {
      const answer = await requestVersion(`http://${name}.acme.localhost:8080`, '/')
      return answer.text === createHash('sha256').update(value).digest('hex')
    },
    { timeoutMilliseconds: limits.rollout },
  )

  // A part of the value, so that the search does not find its own arguments.
  const search = [
    'sh',
    '-c',
    `grep -rlaF "$1" /app /cnb /etc /home /layers /opt /tmp /usr /var /workspace 2>/dev/null; env | grep -F "$1"; echo searched`,
  ]
  const found = await dave(['exec', `deployment/${name}-web`, '--', ...search, 'search', value])
  expect(found).toMatchObject({ code: 0, output: 'searched\n' })

  const log = await platform.sekisho('dave', ['builds', 'logs', name, '-n', 'acme'])
  expect(log.output).toContain('the value is [redacted]')
  expect(log.output + log.errors).not.toContain(value)
  const left = await list(platform.admin, 'pod', '', 'acme-build')
  expect(JSON.stringify(left)).not.toContain(value)
})
