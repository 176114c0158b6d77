// What the demo's pods say to the git proxy. The image of the demo's Application has no git, so they speak git's protocol
// themselves. Each program keeps whatever it was sent, and says at its end whether anything in it looks like a token of GitHub.
// Source: https://git-scm.com/docs/protocol-v2, https://git-scm.com/docs/gitprotocol-pack

/** The beginning of both programs; `grant` signs in. */
const connection = (grant: string): string => `
const { readFileSync } = require('node:fs')
const https = require('node:https')
const { createHash } = require('node:crypto')
const { deflateSync } = require('node:zlib')
const identity = readFileSync('/var/run/sekisho/token', 'utf8')
const ca = readFileSync('/var/run/sekisho-ca/ca.crt')
const seen = [JSON.stringify(process.env)]
const ask = (url, options = {}, body) => new Promise((resolve, reject) => {
  const request = https.request(url, { ca, ...options }, response => {
    const chunks = []
    response.on('data', chunk => chunks.push(chunk)).on('error', reject).on('end', () => {
      const bytes = Buffer.concat(chunks)
      seen.push(JSON.stringify(response.headers), bytes.toString('latin1'))
      resolve({ status: response.statusCode, bytes })
    })
  })
  request.on('error', reject).end(body)
})
const hasToken = () => /gh[a-z]_/.test(seen.join(''))
const line = text => (Buffer.byteLength(text) + 4).toString(16).padStart(4, '0') + text
const authorization = 'Basic ' + Buffer.from('${grant}:' + identity).toString('base64')
const git = (name, path, body, service = 'upload-pack', version = '2') => ask(process.env.GIT_PROXY + '/' + name + '.git' + path, {
  method: body === undefined ? 'GET' : 'POST',
  headers: {
    authorization, ...(version === '' ? {} : { 'git-protocol': 'version=' + version }),
    ...(body === undefined ? {} : { 'content-type': 'application/x-git-' + service + '-request' }),
  },
}, body)
const commitOf = async ref => {
  const refs = await git('acme/shop', '/git-upload-pack', line('command=ls-refs\\n') + '0001' + line('ref-prefix ' + ref + '\\n') + '0000')
  if (refs.status !== 200) throw new Error('refs: ' + refs.status + ' ' + refs.bytes)
  return /^[0-9a-f]{40}/.exec(refs.bytes.toString('latin1').slice(4))?.[0]
}
`

const ended = `.catch(error => { console.error(error.message); process.exit(1) })`

/** Fetches the pack of one commit, and tries another repository, a push, and the token endpoint under the same grant. */
export function fetchScript(grant: string): string {
  return `${connection(grant)}
;(async () => {
  const commit = await commitOf('refs/heads/main')
  const wants = ['want ' + commit + '\\n', 'deepen 1\\n', 'no-progress\\n', 'done\\n'].map(line).join('')
  const fetched = await git('acme/shop', '/git-upload-pack', line('command=fetch\\n') + '0001' + wants + '0000')
  if (fetched.status !== 200 || !fetched.bytes.includes('PACK')) throw new Error('pack: ' + fetched.status)
  const secretPlans = (await git('acme/secret-plans', '/info/refs?service=git-upload-pack')).status
  const push = (await git('acme/shop', '/info/refs?service=git-receive-pack')).status
  const token = (await ask(process.env.TOKEN_DESK + '/v1/token', {
    method: 'POST', headers: { authorization: 'Bearer ' + identity, 'content-type': 'application/json' },
  }, JSON.stringify({ grant: '${grant}' }))).status
  console.log(JSON.stringify({ commit, pack: fetched.bytes.length, secretPlans, push, token, hasToken: hasToken() }))
})()${ended}`
}

/** Pushes a commit of its own to a new branch, looks, tries a ref that no push may change, and deletes the branch again. */
export function pushScript(grant: string, branch: string): string {
  return `${connection(grant)}
const zero = '0'.repeat(40)
const types = { commit: 1, tree: 2, blob: 3 }
const objectOf = (type, content) => {
  const id = createHash('sha1').update(type + ' ' + content.length + '\\0').update(content).digest()
  const sizes = []
  let left = content.length >> 4
  for (let byte = (types[type] << 4) | (content.length & 15); ; byte = left & 127, left >>= 7) {
    sizes.push(left > 0 ? byte | 128 : byte)
    if (left === 0) break
  }
  return { id, packed: Buffer.concat([Buffer.from(sizes), deflateSync(content)]) }
}
const packOf = objects => {
  const header = Buffer.alloc(12)
  header.write('PACK')
  header.writeUInt32BE(2, 4)
  header.writeUInt32BE(objects.length, 8)
  const body = Buffer.concat([header, ...objects.map(({ packed }) => packed)])
  return Buffer.concat([body, createHash('sha1').update(body).digest()])
}
const push = async (from, to, ref, pack = Buffer.alloc(0)) => {
  const list = line(from + ' ' + to + ' ' + ref + '\\0report-status delete-refs') + '0000'
  const answer = await git('acme/shop', '/git-receive-pack', Buffer.concat([Buffer.from(list), pack]), 'receive-pack', '')
  return answer.status + ' ' + answer.bytes.toString('latin1').replace(/[0-9a-f]{4}(?=unpack|ok|ng)|0000/g, ' ').replace(/\\s+/g, ' ').trim()
}
;(async () => {
  const advertised = (await git('acme/shop', '/info/refs?service=git-receive-pack', undefined, '', '')).status
  if (advertised !== 200) throw new Error('a push is not offered: ' + advertised)
  const branch = 'refs/heads/${branch}'
  const [parent, left] = [await commitOf('refs/heads/main'), await commitOf(branch)]
  if (left !== undefined) await push(left, zero, branch)
  const blob = objectOf('blob', Buffer.from('pushed without a token\\n'))
  const tree = objectOf('tree', Buffer.concat([Buffer.from('100644 note.txt\\0'), blob.id]))
  const who = 'Demo <demo@example.com> ' + Math.floor(Date.now() / 1000) + ' +0000'
  const text = ['tree ' + tree.id.toString('hex'), 'parent ' + parent, 'author ' + who, 'committer ' + who, '', 'from a pod', ''].join('\\n')
  const commit = objectOf('commit', Buffer.from(text))
  const [to, pack] = [commit.id.toString('hex'), packOf([commit, tree, blob])]
  const pushed = await push(zero, to, branch, pack)
  const found = await commitOf(branch)
  const hidden = await push(zero, to, 'refs/pull/1/head', pack)
  const deleted = await push(to, zero, branch)
  console.log(JSON.stringify({ commit: to, pushed, found, hidden, deleted, gone: (await commitOf(branch)) === undefined, hasToken: hasToken() }))
})()${ended}`
}
