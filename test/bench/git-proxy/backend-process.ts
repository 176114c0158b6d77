// The git server of both sides: git's own http-backend behind a plain server, for one repository of random bytes, which no
// compression shortens. It asks for no credential. Usage: folder, megabytes
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { runHttpBackend } from '../../../dev/github/git-http/http-backend.ts'
import { serveCommands } from '../harness/command-server.ts'

const [folder = '', megabytes = '1'] = process.argv.slice(2)
const work = join(folder, 'work')
const environment = {
  ...{ PATH: process.env['PATH'], HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
  ...{ GIT_AUTHOR_NAME: 'bench', GIT_AUTHOR_EMAIL: 'bench@example.test' },
  ...{ GIT_COMMITTER_NAME: 'bench', GIT_COMMITTER_EMAIL: 'bench@example.test' },
}
const git = (...args: readonly string[]) => execFileSync('git', [...args], { cwd: work, env: environment, stdio: 'ignore' })
mkdirSync(work, { recursive: true })
for (let at = 0; at < Number(megabytes); at++) writeFileSync(join(work, `noise-${at}`), randomBytes(1024 * 1024))
git('init', '--quiet', '-b', 'main', '.')
git('add', '.')
git('commit', '--quiet', '-m', 'Noise')
git('clone', '--quiet', '--bare', '.', join(folder, '1.git'))

const store = { folder, environment } as unknown as Parameters<typeof runHttpBackend>[0]['git']
const server = createServer((request, response) => {
  const [path = '', query = ''] = (request.url ?? '').split('?')
  void runHttpBackend({
    ...{ git: store, repositoryId: 1, path: path.replace(/^\/acme\/shop\.git/, ''), query, request, response, remoteUser: '' },
    beforeEnd: async () => {},
  }).catch(() => undefined)
})
await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
const address = server.address()
await serveCommands(async () => ({ port: typeof address === 'object' ? address?.port : undefined }))
process.exit(0)
