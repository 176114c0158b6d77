// One repository with several applications, each built by another buildpack: Node.js with a build script and a Procfile, one
// package of a workspace, Python, a static site; and one that cannot be built, whose failure begins with its cause.
import { afterAll, beforeAll, expect, test } from 'vitest'
import { limits } from '../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../src/lib/waiting/wait-until.ts'
import { type Branch, openBranch } from './branch.ts'
import { applicationManifest, remoteSyncManifest } from './manifests.ts'
import { read, readyOf, untilReason } from './objects.ts'
import { openPlatform, type Platform } from './platform.ts'
import { requestVersion } from './serving.ts'

const branchName = 'e2e-buildpacks'
const names = ['node', 'workspace', 'python', 'site', 'broken'].map(folder => `e2e-bp-${folder}`)
const references = names.flatMap(name => [`remotesync/${name}`, `application/${name}`])

const nodeServer = `const { createServer } = require('node:http')
const { readFileSync } = require('node:fs')
createServer((request, response) => response.end(readFileSync('built.txt'))).listen(Number(process.env.PORT))
`
const pythonServer = `import os
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello from python")

HTTPServer(("", int(os.environ["PORT"])), Handler).serve_forever()
`
const files = {
  'node/package.json': JSON.stringify({
    name: 'node',
    scripts: { build: "node -e \"fs.writeFileSync('built.txt', 'built in ' + process.env.NODE_ENV)\"", start: 'node server.js' },
  }),
  'node/Procfile': 'web: npm start\n',
  'node/server.js': nodeServer,
  'workspace/package.json': JSON.stringify({ private: true, workspaces: ['apps/*', 'packages/*'] }),
  'workspace/packages/words/package.json': JSON.stringify({
    name: 'words',
    version: '1.0.0',
    main: 'built.js',
    scripts: { build: "node -e \"fs.writeFileSync('built.js', 'module.exports = \\'of a workspace\\'')\"" },
  }),
  'workspace/apps/shop/package.json': JSON.stringify({
    name: 'shop',
    dependencies: { words: '1.0.0' },
    scripts: { build: "node -e \"fs.writeFileSync('built.txt', 'built ' + require('words'))\"", start: 'node server.js' },
  }),
  'workspace/apps/shop/server.js': nodeServer,
  'python/requirements.txt': '',
  'python/main.py': pythonServer,
  'site/index.html': '<title>a site</title>',
  'broken/package.json': JSON.stringify({ name: 'broken', scripts: { build: 'tsc -p .', start: 'node server.js' } }),
  'broken/server.js': '',
}

/** The fields of a RemoteSync for one folder of the repository. */
function placeOf(folder: string): object {
  if (folder !== 'workspace') return { subPath: folder }
  return { subPath: 'workspace/apps/shop', build: { root: 'workspace', timeoutSeconds: 300 } }
}

let platform: Platform
let branch: Branch

beforeAll(async () => {
  platform = await openPlatform(['dave', 'ada'])
  await platform.remove(references)
  branch = await openBranch(platform.world, branchName)
  await branch.push('several applications', files)
  const processes = [{ name: 'web', port: 3000, memory: '128Mi' }]
  await platform.apply(
    'dave',
    names.flatMap(name => [
      applicationManifest(name, { processes }),
      remoteSyncManifest(name, { source: { branch: branchName }, ...placeOf(name.slice('e2e-bp-'.length)) }),
    ]),
  )
})

afterAll(async () => {
  await platform.remove(references)
  await platform.admin.close()
})

test.each([
  ['the output of the build script of Node.js', 'e2e-bp-node', 'built in production'],
  ['one application of a workspace, in its folder', 'e2e-bp-workspace', 'built of a workspace'],
  ['Python', 'e2e-bp-python', 'hello from python'],
  ['a static site', 'e2e-bp-site', '<title>a site</title>'],
])('%s is served', async (_what, name, text) => {
  await waitUntil(
    `${name} is deployed`,
    async () => {
      const ready = readyOf(await read(platform.admin, `remotesync/${name}`))
      if (ready?.reason === 'Deployed') return true
      throw new Error(`${ready?.reason}: ${ready?.message}`)
    },
    { timeoutMilliseconds: limits.build },
  )
  await waitUntil(`${name} answers`, async () => {
    const answer = await requestVersion(`http://${name}.acme.localhost:8080`, '/')
    return answer.status === 200 && answer.text.includes(text)
  })
})

test('a failed build begins with what a person needs to know', async () => {
  const name = 'e2e-bp-broken'
  const ready = await untilReason(platform.admin, `remotesync/${name}`, 'BuildFailed', 120)
  expect(ready.message).toMatch(/^the command tsc was not found: add the package that contains it/)
  expect(ready.message).toMatch(/step build failed: correct it and push again/)
  expect(ready.message).not.toMatch(/target distro/)
})
