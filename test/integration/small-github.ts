// The least of GitHub that a RemoteSync needs: one repository, `acme/shop`, with one branch, behind one REST route and real git over HTTP.
// Both refuse everybody without the token. The emulator in dev/github is the whole; this one is for tests that need no accounts.
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { answerUploadPack } from '../../src/controllers/source-store/upload-pack.ts'

const run = promisify(execFile)
export const token = 'ghs_0123456789abcdefghijABCDEFGHIJ012345'

const gitEnvironment = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'T',
  GIT_AUTHOR_EMAIL: 't@example.com',
  GIT_COMMITTER_NAME: 'T',
  GIT_COMMITTER_EMAIL: 't@example.com',
}

async function git(folder: string, ...words: string[]): Promise<string> {
  return (await run('git', words, { cwd: folder, env: gitEnvironment })).stdout.trim()
}

export type SmallGitHub = {
  readonly web: string
  /** Commits a change to `main` and gives its id. */
  readonly push: (text: string) => Promise<string>
  readonly branchRequests: () => number
}

/** `acme/shop` with one branch; refuses everybody without the token. */
export async function startSmallGitHub(): Promise<SmallGitHub> {
  const folder = await mkdtemp(join(tmpdir(), 'remote-sync-'))
  const repository = join(folder, 'shop')
  await run('git', ['init', '--quiet', '--initial-branch=main', repository], { env: gitEnvironment })
  let requests = 0
  const basic = `Basic ${Buffer.from(`x-access-token:${token}`).toString('base64')}`
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x')
    const { authorization = '' } = request.headers
    const json = (status: number, body: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (pathname.startsWith('/acme/shop.git/')) {
      if (authorization !== basic) return void response.writeHead(401).end()
      answerUploadPack(request, response, join(repository, '.git'), request.method === 'GET').catch(() => response.destroy())
      return
    }
    if (!authorization.endsWith(token)) return json(401, { message: 'Bad credentials' })
    if (pathname !== '/api/v3/repos/acme/shop/branches/main') return json(404, { message: 'Branch not found' })
    requests++
    git(repository, 'rev-parse', 'main').then(
      sha => json(200, { name: 'main', commit: { sha } }),
      () => json(500, { message: 'no commit' }),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
    await rm(folder, { recursive: true, force: true })
  })
  const address = server.address()
  return {
    web: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    branchRequests: () => requests,
    async push(text) {
      await writeFile(join(repository, 'page.txt'), text)
      await git(repository, 'add', '.')
      await git(repository, 'commit', '--quiet', '-m', text)
      return git(repository, 'rev-parse', 'HEAD')
    },
  }
}
