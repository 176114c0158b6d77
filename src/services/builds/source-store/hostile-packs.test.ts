// Packs and servers that attack the source store, over real HTTP and with real git, in the store's own process. Each is refused
// with a reason that names the cause; the memory of the processes stays within its bounds, and the next tenant's fetch works.
import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createRepository, git } from '../../../../test/fixtures/git-repository.ts'
import {
  answerType,
  commit,
  line,
  type PackObject,
  pack,
  packAnswer,
  packObject,
  repeatDelta,
  startHostileGit,
  type TreeEntry,
  tree,
} from '../../../../test/fixtures/hostile-git.ts'
import { systemClock } from '../../../lib/clock.ts'
import { AppError } from '../../../lib/errors.ts'
import { SecretString } from '../../../lib/secret-string.ts'
import { reservePort } from '../../../lib/testing/reserved-port.ts'
import { silentLog } from '../../../lib/testing/silent-log.ts'
import { type ChildStore, createChildStore } from './child-store.ts'
import { createSourceStore } from './source-store.ts'

const run = promisify(execFile)
const token = new SecretString('ghs_0123456789abcdefghijABCDEFGHIJ012345')
const never = new AbortController().signal
/** Packs up to 20 MiB, 80 MiB unpacked. */
const megabytes = 20

type Resident = { readonly name: string; readonly megabytes: number }

/** What runs below this test process: the store and its git processes, with their memory. */
async function residents(): Promise<readonly Resident[]> {
  const processes = new Map<number, Resident & { readonly parent: number }>()
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const status = await readFile(`/proc/${entry}/status`, 'utf8').catch(() => '')
    const field = (pattern: RegExp): string => pattern.exec(status)?.[1] ?? ''
    const resident = { name: field(/^Name:\s+(.*)$/m), megabytes: Number(field(/^VmRSS:\s+(\d+)/m)) / 1024 }
    processes.set(Number(entry), { ...resident, parent: Number(field(/^PPid:\s+(\d+)/m)) })
  }
  const below = (pid: number): boolean => {
    const parent = processes.get(pid)?.parent
    return parent !== undefined && (parent === process.pid || below(parent))
  }
  return [...processes].filter(([pid]) => below(pid)).map(([, resident]) => resident)
}

let folder: string
let child: ChildStore
let store: ReturnType<typeof createSourceStore>
let port: number
const most = { git: 0, node: 0 }
let watching: NodeJS.Timeout

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hostile-packs-'))
  port = await reservePort()
  const socket = join(folder, 'orders.sock')
  child = createChildStore({ socket, folder: join(folder, 'store'), port, megabytes, clock: systemClock, log: silentLog })
  await child.start()
  store = storeWith(socket, 20_000)
  let reading = false
  watching = setInterval(() => {
    if (reading) return
    reading = true
    void residents().then(found => {
      reading = false
      for (const one of found)
        if (one.name === 'git') most.git = Math.max(most.git, one.megabytes)
        else most.node = Math.max(most.node, one.megabytes)
    })
  }, 10)
})

function storeWith(socket: string, timeoutMilliseconds: number) {
  const publicUrl = new URL(`http://127.0.0.1:${port}`)
  const addressKey = new SecretString('k'.repeat(44))
  return createSourceStore({ socket, addressKey, publicUrl, timeoutMilliseconds, clock: systemClock, log: silentLog })
}

afterAll(async () => {
  clearInterval(watching)
  await store.close()
  await child.stop()
  await rm(folder, { recursive: true, force: true })
})

let hostile: Awaited<ReturnType<typeof startHostileGit>>
let builds = 0
beforeEach(async () => {
  hostile = await startHostileGit()
})

type Fetch = { readonly using?: typeof store; readonly namespace?: string }

async function fetchFrom(wanted: string, { using = store, namespace = 'hostile-build' }: Fetch = {}): Promise<string> {
  builds += 1
  const identity = { namespace, build: `build-${builds}`, commit: wanted }
  const repository = { repositoryUrl: `${hostile.web}/acme/shop.git`, web: hostile.web, commit: wanted, token }
  return (await using.ensure({ identity, owner: 'uid-1', lifetimeSeconds: 600, completeBelow: '', ...repository }, never)).url
}

const readme = packObject('blob', 'hello\n')
const goodTree = tree({ name: 'README', id: readme.id })
const good = commit(goodTree.id)

afterEach(async () => {
  hostile.answers(packAnswer(pack([good, goodTree, readme])))
  const url = await fetchFrom(good.id, { namespace: 'globex-build' })
  expect((await run('git', ['ls-remote', url])).stdout).toContain(good.id)
  expect(await readdir(join(folder, 'store', 'incoming'))).toEqual([])
})

type Refusal = { readonly reason: string; readonly message: RegExp }

async function expectRefused(fetching: Promise<unknown>, { reason, message }: Refusal): Promise<void> {
  const error = await fetching.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof AppError)) throw new Error(`expected an AppError, got ${String(error)}`)
  expect(error.message).toMatch(message)
  expect(error.reason).toBe(reason)
  expect(error.message).not.toContain(token.reveal())
}

async function refusesPack(objects: readonly PackObject[], wanted: PackObject, refusal: Refusal): Promise<void> {
  hostile.answers(packAnswer(pack(objects)))
  await expectRefused(fetchFrom(wanted.id), refusal)
}

describe('packs that grow', () => {
  const zeros = Buffer.alloc(1_048_576)
  const base = packObject('blob', zeros)

  test('a blob of zeros is read as a stream and refused by its size', async () => {
    const bomb = packObject('blob', Buffer.alloc(128 * 1_048_576))
    const files = tree({ name: 'zeros', id: bomb.id })
    const wanted = commit(files.id)
    await refusesPack([wanted, files, bomb], wanted, { reason: 'SourceTooLarge', message: /larger than 80 MiB/ })
  })

  test('deltas of deltas do not take the memory that they ask for', async () => {
    const first = Buffer.alloc(16 * zeros.length)
    const larger = repeatDelta(base.id, zeros, 16)
    const firstId = packObject('blob', first).id
    const largest = repeatDelta(firstId, first, 64)
    const files = tree({ name: 'zeros', id: base.id })
    const wanted = commit(files.id)
    await refusesPack([wanted, files, base, larger, largest], wanted, {
      reason: 'SourceTooLarge',
      message: /takes more than 256 MiB of memory to unpack/,
    })
  })

  test('many deltas of one base are refused by what they make', async () => {
    const deltas = Array.from({ length: 20 }, (_, index) => repeatDelta(base.id, zeros, index + 2))
    const files = tree({ name: 'zeros', id: base.id })
    const wanted = commit(files.id)
    await refusesPack([wanted, files, base, ...deltas], wanted, { reason: 'SourceTooLarge', message: /larger than 80 MiB/ })
  })

  test('a pack that claims four billion objects', async () => {
    hostile.answers(packAnswer(pack([good, goodTree, readme], 0xffffffff)))
    await expectRefused(fetchFrom(good.id), { reason: 'SourceTooLarge', message: /more than 1000000 objects/ })
  })

  test('a pack without end', async () => {
    hostile.answers(response => {
      response.writeHead(200, { 'content-type': answerType })
      response.write(line('packfile\n'))
      const header = Buffer.alloc(12)
      header.write('PACK')
      header.writeUInt32BE(2, 4)
      header.writeUInt32BE(1, 8)
      // One stored blob of zlib: it never ends, and never fails either.
      const blob = Buffer.from([0xbf, 0xff, 0xff, 0xff, 0x7f, 0x78, 0x01])
      response.write(line(Buffer.concat([Buffer.from([1]), header, blob])))
      const stored = Buffer.concat([Buffer.from([0x00, 0x60, 0xea, 0x9f, 0x15]), Buffer.alloc(60_000)])
      const more = (): void => {
        while (!response.destroyed && response.write(line(Buffer.concat([Buffer.from([1]), stored]))));
        if (!response.destroyed) response.once('drain', more)
      }
      more()
    })
    await expectRefused(fetchFrom(good.id), { reason: 'SourceTooLarge', message: /larger than 20 MiB/ })
  })

  test('folders ten thousand deep', async () => {
    const trees: PackObject[] = [tree({ name: 'file', id: readme.id })]
    for (let depth = 0; depth < 10_000; depth++) trees.push(tree({ mode: '40000', name: 'd', id: trees.at(-1)?.id ?? '' }))
    const wanted = commit(trees.at(-1)?.id ?? '')
    await refusesPack([wanted, readme, ...trees], wanted, { reason: 'SourceTooLarge', message: /more than 256 deep/ })
  })

  test('twelve folders that name each other ten times: a trillion files', async () => {
    const trees: PackObject[] = [tree(...Array.from({ length: 10 }, (_, at) => ({ name: `f${at}`, id: readme.id })))]
    for (let depth = 0; depth < 11; depth++) {
      const { id = '' } = trees.at(-1) ?? {}
      trees.push(tree(...Array.from({ length: 10 }, (_, at) => ({ mode: '40000', name: `d${at}`, id }))))
    }
    const wanted = commit(trees.at(-1)?.id ?? '')
    await refusesPack([wanted, readme, ...trees], wanted, { reason: 'SourceTooLarge', message: /more than 1000000 files/ })
  })

  test('a name that no file system takes', async () => {
    const files = tree({ name: 'n'.repeat(5000), id: readme.id })
    const wanted = commit(files.id)
    await refusesPack([wanted, files, readme], wanted, { reason: 'SourceTooLarge', message: /longer than 3840 bytes/ })
  })
})

describe('objects that git must not believe', () => {
  const modules = (text: string): readonly PackObject[] => {
    const file = packObject('blob', text)
    const files = tree({ name: '.gitmodules', id: file.id })
    return [commit(files.id), files, file]
  }
  const entries = (...found: readonly TreeEntry[]): readonly PackObject[] => {
    const files = tree(...found)
    return [commit(files.id), files, goodTree, readme]
  }
  const file = { id: readme.id }
  const inner = { mode: '40000', id: goodTree.id }

  test.each([
    ['a folder named .git', entries({ ...inner, name: '.git' }), 'hasDotgit'],
    ['a folder named .GIT', entries({ ...inner, name: '.GIT' }), 'hasDotgit'],
    ['a folder named git~1', entries({ ...inner, name: 'git~1' }), 'hasDotgit'],
    ['a way out', entries({ ...inner, name: '..' }), 'hasDotdot'],
    ['a path as a name', entries({ ...file, name: '../../etc/passwd' }), 'fullPathname'],
    ['one name twice', entries({ ...file, name: 'a' }, { ...file, name: 'a' }), 'duplicateEntries'],
    ['names out of order', entries({ ...file, name: 'b' }, { ...file, name: 'a' }), 'treeNotSorted'],
    ['an empty name', entries({ ...file, name: '' }), '(emptyName|badTree)'],
    ['a submodule whose address is an option', modules('[submodule "x"]\n\tpath = x\n\turl = -u./payload\n'), 'gitmodulesUrl'],
    ['a submodule whose name leads elsewhere', modules('[submodule "../../x"]\n\tpath = x\n\turl = /x\n'), 'gitmodulesName'],
    ['a submodule with a command', modules('[submodule "x"]\n\tpath = x\n\turl = /x\n\tupdate = !id\n'), 'gitmodulesUpdate'],
    ['a link in place of .gitmodules', entries({ ...file, mode: '120000', name: '.gitmodules' }), 'gitmodulesSymlink'],
  ])('%s', async (_name, objects, check) => {
    const [wanted = good] = objects
    hostile.answers(packAnswer(pack([...new Map(objects.map(object => [object.id, object])).values()])))
    await expectRefused(fetchFrom(wanted.id), { reason: 'SourceMalformed', message: new RegExp(`check ${check} refuses`) })
  })

  test.each([
    [
      'file modes with a leading zero',
      [
        commit(tree({ mode: '040000', name: 'src', id: goodTree.id }).id),
        tree({ mode: '040000', name: 'src', id: goodTree.id }),
        goodTree,
        readme,
      ],
    ],
    ['no space before the date', [commit(goodTree.id, 'T <t@example.com>1700000000 +0000'), goodTree, readme]],
    ['a time zone that does not exist', [commit(goodTree.id, 'T <t@example.com> 1700000000 +051800'), goodTree, readme]],
    ['no address of the author', [commit(goodTree.id, 'T 1700000000 +0000'), goodTree, readme]],
  ])('old tools made %s, and the commit is served', async (_name, objects) => {
    const [wanted = good] = objects
    hostile.answers(packAnswer(pack(objects)))
    const url = await fetchFrom(wanted.id)
    const clone = await mkdtemp(join(folder, 'clone-'))
    await createRepository(clone)
    await git(clone, 'fetch', '--quiet', '--depth=1', url, wanted.id)
    expect(await git(clone, 'rev-parse', 'FETCH_HEAD')).toBe(wanted.id)
  })
})

describe('packs of something else', () => {
  const other = commit(goodTree.id, 'Other <o@example.com> 1700000000 +0000')

  test('another commit than the one that was asked for', () =>
    refusesPack([other, goodTree, readme], good, { reason: 'SourceMalformed', message: /does not contain the commit/ }))

  test('a tree in place of the commit', () =>
    refusesPack([goodTree, readme], goodTree, { reason: 'SourceMalformed', message: /is a tree, not a commit/ }))

  test('a commit without its files', () =>
    refusesPack([good, goodTree], good, { reason: 'SourceMalformed', message: /objects are missing/ }))

  test('a delta of an object that is not there', () =>
    refusesPack([good, goodTree, readme, repeatDelta(other.id, Buffer.alloc(10), 2)], good, {
      reason: 'SourceMalformed',
      message: /objects are missing/,
    }))

  test('a history that was not asked for', async () => {
    const shallow = [line('shallow-info\n'), line(`shallow ${other.id}\n`), Buffer.from('0001')]
    hostile.answers(packAnswer(pack([good, goodTree, readme]), shallow))
    await expectRefused(fetchFrom(good.id), { reason: 'FetchFailed', message: /other commits than the one asked for/ })
  })

  test.each([
    [
      'references with strange names',
      [line('wanted-refs\n'), line(`${good.id} refs/heads/--upload-pack=id\n`), Buffer.from('0001')],
    ],
    [
      'addresses of packs elsewhere',
      [line('packfile-uris\n'), line(`${good.id} http://169.254.169.254/\n`), Buffer.from('0001')],
    ],
  ])('%s that nobody asked for', async (_name, before) => {
    hostile.answers(packAnswer(pack([good, goodTree, readme]), before))
    await expectRefused(fetchFrom(good.id), { reason: 'FetchFailed', message: /the answer has no pack/ })
  })

  test.each([
    ['a truncated pack', (bytes: Buffer) => bytes.subarray(0, bytes.length - 30)],
    [
      'a pack with another checksum',
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes.at(-1) === 0 ? 1 : 0])]),
    ],
    ['no pack at all', () => Buffer.from('hello')],
  ])('%s', async (_name, change) => {
    hostile.answers(packAnswer(change(pack([good, goodTree, readme]))))
    await expectRefused(fetchFrom(good.id), { reason: 'FetchFailed', message: /git cannot read the pack/ })
  })
})

describe('servers that are not a git server', () => {
  test.each([301, 302, 307, 308])('a redirect with %i is not followed, and the token stays here', async status => {
    let asked = 0
    hostile.answers((response, request) => {
      asked += 1
      const location = request.url?.startsWith('/elsewhere') ? '/' : 'http://169.254.169.254/latest/meta-data'
      response.writeHead(status, { location: asked > 1 ? `${hostile.web}/elsewhere` : location }).end()
    })
    await expectRefused(fetchFrom(good.id), { reason: 'FetchFailed', message: /redirects to another address/ })
    expect(asked).toBe(1)
  })

  test.each([
    ['a page', { 'content-type': 'text/html' }, '<html>'],
    ['a compressed answer', { 'content-type': answerType, 'content-encoding': 'gzip' }, 'x'],
    ['a line with a wrong length', { 'content-type': answerType }, 'zzzzpackfile'],
    ['half a line', { 'content-type': answerType }, '00ffpack'],
    ['nothing', { 'content-type': answerType }, ''],
  ])('%s', async (_name, headers, body) => {
    hostile.answers(response => void response.writeHead(200, headers).end(body))
    await expectRefused(fetchFrom(good.id), { reason: 'FetchFailed', message: /protocol|middle of a line|no end/ })
  })

  test('an error of the server is reported, without what it holds of the token', async () => {
    hostile.answers(Buffer.concat([line(`ERR upload-pack: broken ${token.reveal()}`), Buffer.from('0000')]))
    await expectRefused(fetchFrom(good.id), { reason: 'FetchFailed', message: /broken/ })
    hostile.answers(Buffer.concat([line(`ERR upload-pack: not our ref ${good.id}`), Buffer.from('0000')]))
    await expectRefused(fetchFrom(good.id), { reason: 'CommitNotFound', message: /does not exist on GitHub/ })
  })

  test.each([
    ['says nothing', Buffer.alloc(0), 0],
    ['sends a byte now and then', Buffer.from('0'), 50],
    ['only says how far it is', line(Buffer.concat([Buffer.from([2]), Buffer.from('counting\n')])), 1],
  ])('a server that %s is left at the time limit, while another tenant fetches', async (_name, piece, everyMilliseconds) => {
    const patient = storeWith(join(folder, 'orders.sock'), 700)
    const neighbour = storeWith(join(folder, 'orders.sock'), 20_000)
    const slow = (response: ServerResponse): void => {
      response.writeHead(200, { 'content-type': answerType }).write(line('packfile\n'))
      if (everyMilliseconds === 0) return
      const timer = setInterval(() => void response.write(piece), everyMilliseconds)
      response.once('close', () => clearInterval(timer))
    }
    hostile.answers((response, request) => {
      if (request.url?.startsWith('/acme/')) return slow(response)
      response.writeHead(200, { 'content-type': answerType }).end(packAnswer(pack([good, goodTree, readme])))
    })
    const fetches = Array.from({ length: 4 }, () => fetchFrom(good.id, { using: patient }))
    const outcomes = Promise.allSettled(fetches)
    const identity = { namespace: 'globex-build', build: `beside-${everyMilliseconds}`, commit: good.id }
    const repository = { repositoryUrl: `${hostile.web}/globex/site.git`, web: hostile.web, commit: good.id, token }
    await neighbour.ensure({ identity, owner: 'uid-2', lifetimeSeconds: 600, completeBelow: '', ...repository }, never)
    for (const outcome of await outcomes)
      expect(outcome).toMatchObject({
        status: 'rejected',
        reason: { reason: 'FetchFailed', message: /did not end within 0.7 s/ },
      })
    await patient.close()
  })
})

// Last: it judges all of the above.
test('no git process took more memory than its limit, and the process of the store did not grow with what it was sent', () => {
  expect(most.git).toBeGreaterThan(0)
  expect(most.git).toBeLessThan(330)
  expect(most.node).toBeLessThan(250)
})
