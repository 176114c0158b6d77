// Owns: every route of refs, objects, contents, comparison and archives called once with success, and what each must say.
import { expect } from 'vitest'
import { cloneUrl, createGitClient } from '../git-client.ts'
import { bot, type Site } from './site.ts'

const shop = { owner: 'acme', repo: 'shop' }
const text = (content: string): string => Buffer.from(content, 'base64').toString('utf8')

const exerciseContents = async (site: Site): Promise<void> => {
  const app = await bot(site)
  const file = { ...shop, path: 'docs/a b.txt', branch: 'contents' }
  const { data: main } = await app.request('GET /repos/{owner}/{repo}/git/ref/{ref}', { ...shop, ref: 'heads/main' })
  await app.request('POST /repos/{owner}/{repo}/git/refs', { ...shop, ref: 'refs/heads/contents', sha: main.object.sha })
  const one = { ...file, message: 'Write', content: Buffer.from('one\n').toString('base64') }
  const made = await app.request('PUT /repos/{owner}/{repo}/contents/{path}', one)
  expect(made.status).toBe(201)
  const sha = made.data.content?.sha ?? ''
  const two = { ...file, message: 'Change', content: Buffer.from('two\n').toString('base64'), sha }
  const changed = await app.request('PUT /repos/{owner}/{repo}/contents/{path}', two)
  expect(changed.status).toBe(200)
  const shown = await app.request('GET /repos/{owner}/{repo}/contents/{path}', { ...shop, path: file.path, ref: 'contents' })
  expect('content' in shown.data && text(shown.data.content)).toBe('two\n')
  const folder = await app.request('GET /repos/{owner}/{repo}/contents/{path}', { ...shop, path: 'docs', ref: 'contents' })
  expect(Array.isArray(folder.data) && folder.data.map(entry => entry.path)).toEqual(['docs/a b.txt'])
  const root = await app.request('GET /repos/{owner}/{repo}/contents/{path}', { ...shop, path: '', ref: 'contents' })
  const shownInRoot = Array.isArray(root.data) ? root.data.map(entry => [entry.path, entry.type]) : []
  expect(shownInRoot).toEqual(
    expect.arrayContaining([
      ['README.md', 'file'],
      ['docs', 'dir'],
    ]),
  )
  const gone = { ...file, message: 'Remove', sha: changed.data.content?.sha ?? '' }
  expect((await app.request('DELETE /repos/{owner}/{repo}/contents/{path}', gone)).data.content).toBeNull()
  expect(text((await app.request('GET /repos/{owner}/{repo}/readme', shop)).data.content)).toContain('# shop')
  const { data: history } = await app.request('GET /repos/{owner}/{repo}/commits', { ...shop, sha: 'contents', path: file.path })
  expect(history.map(commit => commit.commit.message)).toEqual(['Remove', 'Change', 'Write'])
  const basehead = 'main...contents'
  const { data: compared } = await app.request('GET /repos/{owner}/{repo}/compare/{basehead}', { ...shop, basehead })
  expect(compared).toMatchObject({ status: 'ahead', ahead_by: 3, behind_by: 0, files: [] })
}

const exerciseObjects = async (site: Site, annotatedTag: string): Promise<void> => {
  const app = await bot(site)
  const { data: main } = await app.request('GET /repos/{owner}/{repo}/git/ref/{ref}', { ...shop, ref: 'heads/main' })
  const { data: commit } = await app.request('GET /repos/{owner}/{repo}/git/commits/{commit_sha}', {
    ...shop,
    commit_sha: main.object.sha,
  })
  const { data: tree } = await app.request('GET /repos/{owner}/{repo}/git/trees/{tree_sha}', {
    ...shop,
    tree_sha: commit.tree.sha,
    recursive: '1',
  })
  const readme = tree.tree.find(entry => entry.path === 'README.md')
  const blob = { ...shop, file_sha: readme?.sha ?? '' }
  expect(text((await app.request('GET /repos/{owner}/{repo}/git/blobs/{file_sha}', blob)).data.content)).toContain('# shop')
  const tag = { ...shop, tag_sha: annotatedTag }
  expect((await app.request('GET /repos/{owner}/{repo}/git/tags/{tag_sha}', tag)).data).toMatchObject({
    tag: 'v1',
    message: 'First',
    object: { type: 'commit' },
  })
  expect((await app.request('GET /repos/{owner}/{repo}/tags', shop)).data.map(one => one.name)).toContain('v1')
  for (const ref of ['v1', 'main']) {
    const tarball = await app.request('GET /repos/{owner}/{repo}/tarball/{ref}', { ...shop, ref })
    expect(Buffer.from(tarball.data as ArrayBuffer).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]))
  }
  for (const format of ['tarball', 'zipball']) await app.request(`GET /repos/{owner}/{repo}/${format}`, shop)
  const zipball = await app.request('GET /repos/{owner}/{repo}/zipball/{ref}', { ...shop, ref: 'main' })
  expect(
    Buffer.from(zipball.data as ArrayBuffer)
      .subarray(0, 2)
      .toString(),
  ).toBe('PK')
}

const exerciseRefs = async (site: Site): Promise<void> => {
  const app = await bot(site)
  const { data: main } = await app.request('GET /repos/{owner}/{repo}/git/ref/{ref}', { ...shop, ref: 'heads/main' })
  const { data: other } = await app.request('GET /repos/{owner}/{repo}/git/ref/{ref}', { ...shop, ref: 'heads/contents' })
  await app.request('POST /repos/{owner}/{repo}/git/refs', { ...shop, ref: 'refs/heads/refs/one', sha: main.object.sha })
  const moved = { ...shop, ref: 'heads/refs/one', sha: other.object.sha }
  expect((await app.request('PATCH /repos/{owner}/{repo}/git/refs/{ref}', moved)).data.object.sha).toBe(other.object.sha)
  const matching = { ...shop, ref: 'heads/refs/o' }
  expect((await app.request('GET /repos/{owner}/{repo}/git/matching-refs/{ref}', matching)).data.map(one => one.ref)).toEqual([
    'refs/heads/refs/one',
  ])
  expect((await app.request('DELETE /repos/{owner}/{repo}/git/refs/{ref}', { ...shop, ref: 'heads/refs/one' })).status).toBe(204)
}

/** Calls each route of this area. */
export const exerciseGitData = async (site: Site): Promise<void> => {
  const git = await createGitClient()
  await git.run('clone', cloneUrl(site.emulator.url, 'acme/shop', site.emulator.personalTokens['dave']), '.')
  await git.run('tag', '--annotate', '--message', 'First', 'v1')
  await git.run('push', 'origin', 'v1')
  const tag = (await git.run('rev-parse', 'v1')).stdout.trim()
  await git.remove()
  await exerciseContents(site)
  await exerciseObjects(site, tag)
  await exerciseRefs(site)
}
