// The scripts for pods, run by a POSIX shell with a curl that notes what it gets: who is asked, what is printed, and that
// nothing secret is an argument, in the environment or in a file.
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { workloadScripts } from './workload-scripts.ts'

const identity = 'eyJhbGciOi.projected-identity.of_the_pod'
const token = 'ghs_5001_a.secret-token_of.GitHub'

/** Notes its arguments, environment and configuration, and answers as it is told. */
const curl = `#!/bin/sh
echo "$@" >>"$NOTES/arguments"
env >>"$NOTES/environment"
case "$*" in
  *"/dev/fd/3"*) cat /dev/fd/3 >>"$NOTES/configuration"; cat >"$NOTES/body"; echo '{"full_name":"acme/shop"}' ;;
  *) cat >>"$NOTES/configuration"; cat "$NOTES/answer" ;;
esac
`

async function pod(answer = '') {
  const folder = await mkdtemp(join(tmpdir(), 'scripts-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const at = (name: string): string => join(folder, name)
  const scripts = workloadScripts({ tokenDeskHost: 'desk.test', gitProxyHost: 'git.test' })
  const files = { ...scripts, identity, curl, answer, 'ca.crt': 'PEM' }
  for (const [name, text] of Object.entries(files)) await writeFile(at(name), text)
  await chmod(at('curl'), 0o755)
  const env = {
    ...{ PATH: `${folder}:/usr/local/bin:/usr/bin:/bin`, NOTES: folder, TMPDIR: folder, HOME: folder },
    ...{ SEKISHO_IDENTITY: at('identity'), SEKISHO_AUTHORITY: at('ca.crt') },
  }
  const run = (script: keyof typeof scripts, args: readonly string[], input = '') =>
    new Promise<{ readonly code: number; readonly out: string; readonly problem: string }>(resolve => {
      const child = execFile('sh', [at(script), ...args], { env }, (error, out, problem) =>
        resolve({ code: error === null ? 0 : Number(error.code), out, problem }),
      )
      // A script that refuses its arguments reads nothing.
      child.stdin?.on('error', () => undefined)
      child.stdin?.end(input)
    })
  const noted = (name: string): Promise<string> => readFile(at(name), 'utf8').catch(() => '')
  return { run, noted, folder }
}

const wanted = (host: string, protocol = 'https', path = 'acme/shop.git') =>
  `protocol=${protocol}\nhost=${host}\npath=${path}\n\n`
const credential = `username=x-access-token\npassword=${token}\npassword_expiry_utc=1\nquit=1\n\n200`

async function expectNoSecrets({ noted, folder }: Awaited<ReturnType<typeof pod>>): Promise<void> {
  expect((await noted('arguments')) + (await noted('environment'))).not.toMatch(/eyJ|ghs_/)
  const known = [
    'answer',
    'arguments',
    'body',
    'ca.crt',
    'configuration',
    'curl',
    'environment',
    'git-credential',
    'github-api',
    'identity',
  ]
  expect((await readdir(folder)).filter(name => !known.includes(name))).toEqual([])
}

describe('git-credential', () => {
  test('asks the desk for GitHub, and prints the lines of a credential only', async () => {
    const made = await pod(credential)
    const { out } = await made.run('git-credential', ['read-shop', 'get'], wanted('github.com'))
    expect(out).toBe(`username=x-access-token\npassword=${token}\npassword_expiry_utc=1\n`)
    const asked = await made.noted('configuration')
    expect(asked).toContain('url = "https://desk.test/v1/git-credential?grant=read-shop"')
    expect(asked).toContain('data-raw = "protocol=https\\nhost=github.com\\npath=acme/shop.git\\n"')
    expect(asked).toContain(`header = "Authorization: Bearer ${identity}"`)
    await expectNoSecrets(made)
  })

  test('gives the git proxy the name of the grant and the identity of the pod, and asks nobody', async () => {
    const made = await pod()
    const { out } = await made.run('git-credential', ['read-shop', 'get'], wanted('git.test'))
    expect(out).toBe(`username=read-shop\npassword=${identity}\n`)
    expect(await made.noted('arguments')).toBe('')
    expect(await made.run('git-credential', ['read-shop', 'get'], wanted('git.test', 'http'))).toMatchObject({ code: 1, out: '' })
  })

  test.each(['git.test.evil.example', 'evil.example', 'git.test:8443', 'GIT.TEST'])('gives %s no identity', async host => {
    const made = await pod('\n403')
    const { code, out, problem } = await made.run('git-credential', ['read-shop', 'get'], wanted(host))
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(problem).toContain('kubectl describe repositorygrant read-shop')
  })

  test.each(['store', 'erase'])('does nothing for %s', async operation => {
    const made = await pod()
    const input = `${wanted('github.com').trimEnd()}\npassword=${token}\n\n`
    expect(await made.run('git-credential', ['read-shop', operation], input)).toEqual({ code: 0, out: '', problem: '' })
    expect(await made.noted('arguments')).toBe('')
  })

  test.each<readonly [string, readonly string[], string]>([
    ['no grant', ['get'], wanted('github.com')],
    ['a grant that is no name', ['read"shop', 'get'], wanted('github.com')],
    [
      'a path that ends the configuration',
      ['read-shop', 'get'],
      wanted('github.com', 'https', 'a"\nurl = "https://evil.example'),
    ],
    ['a host with a quotation mark', ['read-shop', 'get'], wanted('github.com"')],
    ['a path with a back slash', ['read-shop', 'get'], wanted('github.com', 'https', 'a\\nhost=x')],
    ['a thousand lines', ['read-shop', 'get'], `${'x=y\n'.repeat(1000)}\n`],
  ])('refuses %s', async (_case, args, input) => {
    const made = await pod(credential)
    const { code, out, problem } = await made.run('git-credential', args, input)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(problem).toMatch(/^sekisho: /)
    expect(await made.noted('arguments')).toBe('')
  })
})

describe('github-api', () => {
  const delivered = `${JSON.stringify({ token, expiresAt: 'x', repositories: [], permissions: {}, api: 'https://api.github.com' })}\n200`

  test('asks the API of the grant’s host with the token, and prints its answer', async () => {
    const made = await pod(delivered)
    const { out, problem } = await made.run('github-api', ['read-shop', '/repos/acme/shop?per_page=1'])
    expect({ out, problem }).toEqual({ out: '{"full_name":"acme/shop"}\n', problem: '' })
    const asked = await made.noted('configuration')
    expect(asked).toContain('url = "https://desk.test/v1/token"')
    expect(asked).toContain('data-raw = "{\\"grant\\":\\"read-shop\\"}"')
    expect(asked).toContain('url = "https://api.github.com/repos/acme/shop?per_page=1"')
    expect(asked).toContain(`header = "Authorization: Bearer ${token}"`)
    await expectNoSecrets(made)
  })

  test('sends standard input as the body', async () => {
    const made = await pod(delivered)
    await made.run('github-api', ['read-shop', 'POST', '/repos/acme/shop/issues', '-'], '{"title":"x"}')
    expect(await made.noted('body')).toBe('{"title":"x"}')
    expect(await made.noted('arguments')).toContain('--request POST')
    await expectNoSecrets(made)
  })

  test.each<readonly [string, readonly string[], string]>([
    ['a URL', ['read-shop', 'https://evil.example/'], delivered],
    ['a path that changes the host', ['read-shop', '@evil.example/'], delivered],
    ['a path with a quotation mark', ['read-shop', '/a"'], delivered],
    ['no path', ['read-shop'], delivered],
    ['a refusal of the desk', ['read-shop', '/user'], '\n403'],
    ['an answer without an API', ['read-shop', '/user'], `{"token":"${token}"}\n200`],
  ])('does not ask with %s, and prints nothing secret', async (_case, args, answer) => {
    const made = await pod(answer)
    const { code, out, problem } = await made.run('github-api', args)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(problem).toMatch(/^sekisho: /)
    expect(problem).not.toMatch(/eyJ|ghs_/)
    expect(await made.noted('arguments')).not.toContain('/dev/fd/3')
  })
})

test('the scripts need nothing that POSIX lacks, and a host that a shell would read otherwise is refused', () => {
  for (const text of Object.values(workloadScripts({ tokenDeskHost: 'desk.test', gitProxyHost: 'git.test' })))
    expect(text).not.toMatch(/\[\[|<<<|\blocal\b|\bfunction\b|\$'|@[A-Z_]+@/)
  expect(() => workloadScripts({ tokenDeskHost: "x';id;'", gitProxyHost: 'git.test' })).toThrow('SEKISHO_TOKEN_DESK_HOST')
})
