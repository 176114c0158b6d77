// How a user signs in on the pages: GitHub's sign-in and consent, then our own consent for kubectl. It uses the links and
// buttons of the pages only.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { Browser, offers, type Page, summary } from '../browser.ts'
import { type DemoContext, tenantNamespace } from '../context.ts'
import { expectThat } from '../steps.ts'
import { mustRun, type Person, type ToolPaths } from '../tools.ts'

/** Clicks through all sign-in pages, from any page that leads to signing in; resolves to the page after them. */
export async function passSignIn(browser: Browser, start: Page, login: string): Promise<Page> {
  const clicks = ['Sign in with GitHub', `Sign in as ${login}`, 'Authorize sekisho-dev', `Continue as ${login}`]
  let page = start
  for (let click = 0; click < 8; click++) {
    const next = clicks.find(text => offers(page, text))
    if (next === undefined) return page
    page =
      next === 'Sign in with GitHub' && page.root.querySelector('form') === null
        ? await browser.follow(page, next)
        : await press(browser, page, next)
  }
  throw new Error(`the sign-in pages do not end: ${summary(page)}`)
}

async function press(browser: Browser, page: Page, text: string): Promise<Page> {
  const isLink = page.root.querySelectorAll('a[href]').some(anchor => anchor.text.includes(text))
  return isLink ? browser.follow(page, text) : browser.press(page, text)
}

/**
 * Runs `sekisho login` and signs in on its pages; afterwards kubectl authenticates as that user, in this namespace by default.
 */
export async function commandLineLogin(demo: DemoContext, who: Person, namespace = tenantNamespace): Promise<void> {
  const { code, said } = await attemptLogin(demo, who)
  expectThat(code === 0, `sekisho login of ${who.login} failed: ${said}`)
  await mustRun(who, demo.tools.sekisho, ['kubeconfig', '--namespace', namespace])
}

export type LoginTools = { readonly certificateAuthority: string; readonly tools: Pick<ToolPaths, 'sekisho'> }

/** As `commandLineLogin`, whether it succeeds or not; resolves to the exit code and the last line that the command wrote. */
export async function attemptLogin(demo: LoginTools, who: Person): Promise<{ readonly code: number; readonly said: string }> {
  const browser = new Browser({ certificateAuthority: demo.certificateAuthority })
  const child = spawn(demo.tools.sekisho, ['login', '--no-browser'], {
    env: { ...who.environment },
    cwd: who.home,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  })
  const ended = new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => resolve(code ?? 1))
  })
  const said: string[] = []
  try {
    const address = await new Promise<string>((resolve, reject) => {
      createInterface(child.stderr).on('line', line => {
        said.push(line)
        const found = /https:\/\/\S+/.exec(line)
        if (found) resolve(found[0])
      })
      ended.then(code => reject(new Error(`sekisho login failed with exit code ${code}: ${said.join('; ')}`)), reject)
    })
    await passSignIn(browser, await browser.open(address), who.login)
    return { code: await ended, said: said.at(-1) ?? '' }
  } finally {
    if (child.exitCode === null) child.kill()
    await browser.close()
  }
}
