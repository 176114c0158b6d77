// The source store with a real git server that requires the token, its orders over a unix socket, and a real clone of what it
// serves.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createRepository, git } from '../../../../test/fixtures/git-repository.ts'
import { type Clock, systemClock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import { answerUploadPack } from './git/upload-pack.ts'
import { openStore } from './open-store.ts'
import { createSourceStore, type SourceRequest, type SourceStore } from './source-store.ts'

const run = promisify(execFile)
const token = new SecretString('ghs_0123456789abcdefghijABCDEFGHIJ012345')

/** The command lines of this machine's processes that contain the token. */
async function commandLinesWithToken(): Promise<string[]> {
  const found: string[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const line = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
    if (line.includes(token.reveal()) || line.includes(Buffer.from(`x-access-token:${token.reveal()}`).toString('base64')))
      found.push(line)
  }
  return found
}

describe('source store', () => {
  let folder: string
  let github: Server
  let web: string
  let redirectTo: string | undefined
  let redirected = 0
  /** So often GitHub refuses the token, because it is new. */
  let refusals: number[] = []
  let leaks: string[] = []
  let repository: string
  let first: string
  let second: string
  let now = new Date('2026-01-01T00:00:00Z')
  const clock: Clock = { now: () => now, sleep: systemClock.sleep }
  let store: SourceStore
  let base: URL
  const closing: (() => Promise<void>)[] = []

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'source-store-'))
    repository = join(folder, 'shop')
    await createRepository(repository)
    await writeFile(join(repository, 'server.js'), 'console.log(1)\n')
    await git(repository, 'add', '.')
    await git(repository, 'commit', '--quiet', '-m', 'one')
    first = await git(repository, 'rev-parse', 'HEAD')
    await writeFile(join(repository, 'server.js'), `console.log(2)\n${'// filler\n'.repeat(20_000)}`)
    await writeFile(join(repository, 'random.bin'), Array.from({ length: 40_000 }, () => Math.random().toString(36)).join(''))
    await git(repository, 'add', '.')
    await git(repository, 'commit', '--quiet', '-m', 'two')
    second = await git(repository, 'rev-parse', 'HEAD')
    github = createServer((request, response) => {
      if (request.headers.host?.startsWith('localhost')) redirected++
      if (redirectTo !== undefined) return void response.writeHead(302, { location: `${redirectTo}${request.url}` }).end()
      const expected = `Basic ${Buffer.from(`x-access-token:${token.reveal()}`).toString('base64')}`
      if (request.headers.authorization !== expected) return void response.writeHead(401, { 'www-authenticate': 'Basic' }).end()
      const refusal = refusals.shift()
      if (refusal !== undefined) return void response.writeHead(refusal).end()
      if (!request.url?.startsWith('/acme/shop.git/')) return void response.writeHead(404).end()
      void commandLinesWithToken()
        .then(found => leaks.push(...found))
        .then(() => answerUploadPack(request, response, join(repository, '.git'), request.method === 'GET'))
        .catch(() => response.destroy())
    })
    await new Promise<void>(resolve => github.listen(0, '127.0.0.1', resolve))
    const address = github.address()
    web = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
    store = await makeStore()
  })

  beforeEach(async () => {
    redirectTo = undefined
    refusals = []
    leaks = []
    now = new Date('2026-01-01T00:00:00Z')
  })

  afterAll(async () => {
    for (const close of closing) await close()
    github.closeAllConnections()
    await new Promise(resolve => github.close(resolve))
    await rm(folder, { recursive: true, force: true })
  })

  type Limits = { readonly packedBytes?: number; readonly unpackedBytes?: number; readonly totalBytes?: number }

  /** A store with its process; all of them have the same folder, as after a restart. */
  async function makeStore({ timeoutMilliseconds = 20_000, ...limits }: Limits & { timeoutMilliseconds?: number } = {}) {
    const socket = join(folder, `orders-${closing.length}.sock`)
    const sizes = { packedBytes: 50_000_000, unpackedBytes: 50_000_000, totalBytes: 200_000_000, ...limits }
    const address = { host: '127.0.0.1', port: 0 }
    const shared = { socket, clock, patienceMilliseconds: 0, log: silentLog }
    const held = await openStore({ ...shared, folder: join(folder, 'data'), address, limits: { timeoutMilliseconds, ...sizes } })
    base = new URL(`http://127.0.0.1:${held.port}`)
    const made = createSourceStore({
      ...shared,
      addressKey: new SecretString('k'.repeat(44)),
      publicUrl: base,
      timeoutMilliseconds,
    })
    closing.push(made.close, held.close)
    return made
  }

  function request(commit: string, changes: Partial<SourceRequest> = {}): SourceRequest {
    const identity = { namespace: 'acme-build', build: `shop-${commit.slice(0, 8)}`, commit }
    return {
      identity,
      owner: 'uid-1',
      lifetimeSeconds: 600,
      completeBelow: '',
      repositoryUrl: `${web}/acme/shop.git`,
      web,
      commit,
      token,
      ...changes,
    }
  }

  const signal = new AbortController().signal

  async function status(url: string): Promise<number> {
    return (await fetch(`${url}/info/refs?service=git-upload-pack`)).status
  }

  test('fetches one commit and serves exactly that one to a builder that requests it by id', async () => {
    const { url } = await store.ensure(request(first), signal)
    const clone = join(folder, 'clone')
    await createRepository(clone)
    await git(clone, 'fetch', '--quiet', '--depth=1', url, `${first}:${first}`)
    await git(clone, 'checkout', '--quiet', first)
    expect(await readFile(join(clone, 'server.js'), 'utf8')).toBe('console.log(1)\n')
    expect(await git(clone, 'ls-remote', url)).toBe(`${first}\tHEAD\n${first}\trefs/heads/source`)
    await expect(git(clone, 'fetch', '--quiet', url, second)).rejects.toThrow(/not our ref/)
  })

  test('the token is in no argument list and in no file', async () => {
    await store.ensure(request(second), signal)
    expect(leaks).toEqual([])
    await expect(run('grep', ['-rlF', token.reveal(), join(folder, 'data')])).rejects.toMatchObject({ code: 1, stdout: '' })
    const encoded = Buffer.from(`x-access-token:${token.reveal()}`).toString('base64')
    await expect(run('grep', ['-rlF', encoded, join(folder, 'data')])).rejects.toMatchObject({ code: 1, stdout: '' })
  })

  test('a second process with the same key serves the same URL without fetching again', async () => {
    const { url } = await store.ensure(request(first), signal)
    const restarted = await makeStore()
    expect(await restarted.has(request(first).identity)).toBe(true)
    const again = await restarted.ensure(request(first, { token: new SecretString('expired') }), signal)
    expect(new URL(again.url).pathname).toBe(new URL(url).pathname)
    expect(await status(again.url)).toBe(200)
  })

  test('the URL ends by revocation, by expiry, and with its owner', async () => {
    const { url } = await store.ensure(request(first), signal)
    await store.revoke(request(first).identity)
    expect(await status(url)).toBe(404)
    await store.ensure(request(first), signal)
    now = new Date(now.getTime() + 601_000)
    expect(await status(url)).toBe(404)
    await store.ensure(request(first), signal)
    expect(await status(url)).toBe(200)
    await store.revokeOwner('uid-2')
    expect(await status(url)).toBe(200)
    await store.revokeOwner('uid-1')
    expect(await status(url)).toBe(404)
  })

  test('writes, other paths and guessed addresses are refused', async () => {
    const { url } = await store.ensure(request(first), signal)
    expect((await fetch(`${url}/info/refs?service=git-receive-pack`)).status).toBe(404)
    expect((await fetch(`${url}/info/refs`)).status).toBe(404)
    expect((await fetch(`${url}/HEAD`)).status).toBe(404)
    expect((await fetch(`${url}/git-receive-pack`, { method: 'POST' })).status).toBe(404)
    expect((await fetch(new URL(`/${'A'.repeat(43)}/source.git/info/refs?service=git-upload-pack`, base))).status).toBe(404)
    expect((await fetch(base)).status).toBe(404)
  })

  async function reason(work: Promise<unknown>): Promise<string | undefined> {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    if (!(error instanceof AppError)) throw new Error(`expected an AppError, got ${String(error)}`)
    expect(error.message).not.toContain(token.reveal())
    return error.reason
  }

  test('waits while GitHub does not know the new token, and no longer than three times', async () => {
    await store.revoke(request(first).identity)
    refusals = [401, 403]
    await store.ensure(request(first), signal)
    await store.revoke(request(first).identity)
    refusals = [403, 403, 403, 403, 403]
    expect(await reason(store.ensure(request(first), signal))).toBe('FetchFailed')
    expect(refusals).toEqual([403])
  })

  test('reports what is wrong: no such commit, too large, refused, redirected, another host', async () => {
    expect(await reason(store.ensure(request('1'.repeat(40)), signal))).toBe('CommitNotFound')
    await store.revoke(request(second).identity)
    expect(await reason((await makeStore({ packedBytes: 10_000 })).ensure(request(second), signal))).toBe('SourceTooLarge')
    expect(await reason((await makeStore({ unpackedBytes: 10_000 })).ensure(request(second), signal))).toBe('SourceTooLarge')
    await store.revoke(request(first).identity)
    expect(await reason(store.ensure(request(first, { token: new SecretString('wrong') }), signal))).toBe('FetchFailed')
    redirectTo = web.replace('127.0.0.1', 'localhost')
    expect(await reason(store.ensure(request(first), signal))).toBe('FetchFailed')
    expect(redirected).toBe(0)
    redirectTo = undefined
    expect(await reason(store.ensure(request(first, { web: 'https://github.com' }), signal))).toBe('FetchFailed')
    expect(await reason(store.ensure(request(first, { repositoryUrl: 'file:///etc' }), signal))).toBe('FetchFailed')
    expect(await readdir(join(folder, 'data', 'incoming'))).toEqual([])
  })

  describe('files that are not in the repository', () => {
    const pointer = (hash: string) => `version https://git-lfs.github.com/spec/v1\noid sha256:${hash.repeat(64)}\nsize 12345\n`
    const lfs = '*.bin filter=lfs diff=lfs merge=lfs -text\n'

    /** The commit with exactly these files and, as submodules, these folders. */
    async function commitOf(files: Readonly<Record<string, string>>, submodules: readonly string[] = []): Promise<string> {
      await git(repository, 'checkout', '--quiet', '--orphan', 'incomplete')
      await git(repository, 'rm', '-rfq', '--cached', '.')
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(repository, path)), { recursive: true })
        await writeFile(join(repository, path), text)
      }
      await git(repository, 'add', '--force', '--', ...Object.keys(files))
      for (const path of submodules) await git(repository, 'update-index', '--add', '--cacheinfo', `160000,${first},${path}`)
      await git(repository, 'commit', '--quiet', '--allow-empty', '-m', 'incomplete')
      const made = await git(repository, 'rev-parse', 'HEAD')
      await git(repository, 'checkout', '--quiet', '--force', 'main')
      await git(repository, 'branch', '-D', 'incomplete')
      return made
    }

    async function refusal(commit: string, changes: Partial<SourceRequest> = {}): Promise<string> {
      return store.ensure(request(commit, changes), signal).then(
        () => 'served',
        (error: AppError) => `${error.reason}: ${error.message}`,
      )
    }

    const modules = '[submodule "ui"]\n\tpath = vendor/ui\n\turl = https://github.com/acme/ui.git\n'

    test('files in Git LFS are refused by name, with the cure', async () => {
      const made = await commitOf({ '.gitattributes': lfs, 'model.bin': pointer('a'), 'other.bin': pointer('b'), 'a.txt': 'x' })
      expect(await refusal(made)).toMatch(
        /^SourceIncomplete: (model|other)\.bin \(and 1 more\) is in Git LFS, which is not fetched: put the file .* spec\.build\.allowIncompleteSource to true$/,
      )
      expect(await readdir(join(folder, 'data', 'incoming'))).toEqual([])
    })

    test('a submodule is refused by name; control characters of its path are not repeated', async () => {
      const path = 'vendor/u\ni'
      expect(await refusal(await commitOf({ '.gitmodules': modules }, [path]))).toMatch(
        /^SourceIncomplete: vendor\/u\?i is a submodule, which is not fetched/,
      )
    })

    test('only the folder that is built has to be complete, with the attributes of all folders above it', async () => {
      const files = { '.gitattributes': lfs, 'web/index.js': 'x', 'ml/größe.bin': pointer('a'), '.gitmodules': modules }
      const made = await commitOf(files, ['vendor/ui'])
      expect(await refusal(made, { completeBelow: 'web' })).toBe('served')
      await store.revoke(request(made).identity)
      expect(await refusal(made, { completeBelow: './ml/' })).toContain('ml/größe.bin is in Git LFS')
      expect(await refusal(made, { completeBelow: 'vendor' })).toContain('vendor/ui is a submodule')
      expect(await refusal(made, { completeBelow: 'm' })).toBe('served')
    })

    test('what the RemoteSync does not need is served as the pointers that it is', async () => {
      const made = await commitOf({ '.gitattributes': lfs, 'model.bin': pointer('a') })
      expect(await refusal(made, { completeBelow: undefined })).toBe('served')
    })

    test.each<[string, Record<string, string>, readonly string[]]>([
      ['a text about pointers', { '.gitattributes': lfs, 'readme.bin': `# LFS\n${pointer('a')}` }, []],
      ['a pointer that no attribute names', { 'model.bin': pointer('a') }, []],
      ['attributes without a pointer', { '.gitattributes': lfs, 'model.bin': 'x'.repeat(500) }, []],
      ['other attributes', { '.gitattributes': '*.sh filter=lfsx\n', 'model.bin': pointer('a') }, []],
      ['a folder of another repository without .gitmodules', { 'a.txt': 'x' }, ['vendor/ui']],
    ])('%s is not refused', async (_what, files, submodules) => {
      expect(await refusal(await commitOf(files, submodules))).toBe('served')
    })

    test('a pointer among thousands of small files is found', async () => {
      const many = Array.from({ length: 3000 }, (_, index) => [`data/${index}.txt`, `${index} ${'x'.repeat(300)}`])
      const made = await commitOf({ ...Object.fromEntries(many), 'data/.gitattributes': lfs, 'data/z.bin': pointer('c') })
      expect(await refusal(made)).toContain('data/z.bin is in Git LFS')
    })
  })

  test('a full store refuses with a time to wait', async () => {
    await store.ensure(request(second), signal)
    const work = (await makeStore({ totalBytes: 1000 })).ensure(request(first), signal)
    await expect(work).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 30 })
  })

  test('a fetch that takes too long is ended', async () => {
    const silent = createServer(() => {})
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    const address = silent.address()
    const origin = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`
    const slow = await makeStore({ timeoutMilliseconds: 500 })
    expect(await reason(slow.ensure(request(first, { repositoryUrl: `${origin}/acme/shop.git`, web: origin }), signal))).toBe(
      'FetchFailed',
    )
    silent.closeAllConnections()
    silent.close()
  })
})
