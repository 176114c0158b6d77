// A code that an attacker’s computer began, given to somebody else (RFC 8628 §5.4): what the person sees, what opening the link
// alone does, and for whom the code is in the end. Whoever confirms “It is my computer” signs it in: the protocol has no other
// defence than what the page says.
import type { Browser, Page } from '../../demo/browser.ts'
import type { Attack, Attempt } from '../attack.ts'
import { judgeBroker, pageText } from '../judge.ts'
import { stopped, succeeded, unclear, type Verdict } from '../verdict.ts'
import type { HttpAnswer } from '../world/http.ts'
import type { World } from '../world/world.ts'
import { freshBrowser, newBrowser, signedIn } from './visitor.ts'

type Code = { readonly device_code: string; readonly user_code: string; readonly verification_uri_complete: string }

const agent = 'attacker/1.0 <b>laptop of olivia</b>'

function post(world: World, path: string, fields: Readonly<Record<string, string>>): Promise<HttpAnswer> {
  return world.http.send(`${world.targets.issuer}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'user-agent': agent },
    body: new URLSearchParams(fields).toString(),
  })
}

async function begin(world: World): Promise<Code> {
  const answer = await post(world, '/oidc/device-authorization', { client_id: 'kubernetes', scope: 'openid' })
  if (answer.status !== 200) throw new Error(`control: no device code: ${answer.status} ${answer.text}`)
  return JSON.parse(answer.text) as Code
}

/** The attacker’s computer asks for its token: it must not get one. */
async function judgePoll(world: World, { device_code }: Code): Promise<Verdict> {
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
  const answer = await post(world, '/oidc/token', { grant_type, client_id: 'kubernetes', device_code })
  return answer.status === 200 ? succeeded('200: tokens of the person') : judgeBroker(answer, [400])
}

const attempt = (world: World, name: string, act: (browser: Browser, code: Code) => Promise<Page | undefined>): Attempt => ({
  name,
  async run() {
    const code = await begin(world)
    const browser = await newBrowser(world, 'olivia')
    try {
      const page = await act(browser, code)
      const verdict = await judgePoll(world, code)
      const seen = page === undefined ? '' : `; the page: ${page.status} ${pageText(page.html)}`
      return verdict.outcome === 'stopped' ? stopped(verdict.by, `${verdict.evidence}${seen}`) : verdict
    } finally {
      await browser.close()
    }
  },
})

/** The confirmation names the computer’s address and program and the code, and says what to do about a code of another person. */
function warns(world: World): Attempt {
  return {
    name: 'olivia: what the page says before she confirms',
    async run() {
      const code = await begin(world)
      const browser = await newBrowser(world, 'olivia')
      const page = await confirmation(browser, code)
      await browser.close()
      const text = pageText(page.html).replace(/\s+/g, ' ')
      const says = ['asks to use', code.user_code, 'attacker/1.0', 'If another person sent you the code, refuse']
      const missing = says.filter(part => !text.includes(part))
      if (page.html.includes('<b>laptop')) return succeeded('the program of the attacker writes markup into the page')
      return missing.length === 0 ? stopped('broker', text) : succeeded(`the page does not say ${missing.join(', ')}: ${text}`)
    },
  }
}

/** The page sends the code of the link by itself, as browsers do: from there to the page that asks whether it is her computer. */
async function confirmation(browser: Browser, code: Code): Promise<Page> {
  const page = await browser.open(code.verification_uri_complete)
  const fields = [...page.html.matchAll(/name="(xsrf|user_code)" value="([^"]*)"/g)].map(([, key = '', value = '']) => [
    key,
    value,
  ])
  return fields.length === 0 ? page : browser.submit(new URL('/device', page.url), Object.fromEntries(fields))
}

/** The code of one person is for nobody else: who types it later gets nothing, and the computer gets nothing of theirs. */
function usedCode(world: World): Attempt {
  return {
    name: 'olivia: a code that gary has confirmed already',
    async run() {
      const code = await begin(world)
      const gary = await newBrowser(world, 'gary')
      const consent = await gary.press(await confirmation(gary, code), 'It is my computer')
      const done = await gary.press(consent, 'Continue as gary')
      await gary.close()
      if (!/signed in/i.test(pageText(done.html))) return unclear(`gary cannot sign in by a code: ${pageText(done.html)}`)
      const olivia = await newBrowser(world, 'olivia')
      const next = await confirmation(olivia, code)
      await olivia.close()
      if (/It is my computer/.test(next.html)) return succeeded('the same code is offered to a second person')
      const subject = await subjectOf(world, code)
      return subject === 'github|github.localhost|1004'
        ? stopped('broker', `the token is of ${subject}, who confirmed; olivia: ${pageText(next.html)}`)
        : succeeded(`the token is of ${subject}`)
    },
  }
}

async function subjectOf(world: World, { device_code }: Code): Promise<string> {
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
  const { text } = await post(world, '/oidc/token', { grant_type, client_id: 'kubernetes', device_code })
  const { id_token = '' } = JSON.parse(text) as { id_token?: string }
  const [, payload = ''] = id_token.split('.')
  return payload === '' ? text : (JSON.parse(Buffer.from(payload, 'base64url').toString()) as { sub: string }).sub
}

export const devicePhishingAttacks: readonly Attack[] = [
  {
    name: 'issuer/device-phishing',
    as: 'an attacker who sends olivia the code of his own computer',
    against: 'olivia, owner of acme, who is signed in to the pages',
    tries:
      'A link with the code, forms of another site that confirm it, a form from the attacker’s session, a code that is used or was refused, and markup in the name of the program.',
    expected: ['broker', 'authentication'],
    attempts: world => [
      warns(world),
      attempt(world, 'olivia: opens the link', (browser, code) => browser.open(code.verification_uri_complete)),
      attempt(world, 'olivia: opens the link, whose page sends the code', confirmation),
      attempt(world, 'olivia: another site sends the form with the code', (browser, code) =>
        browser.submit(`${world.targets.issuer}/device`, { user_code: code.user_code, confirm: 'yes' }),
      ),
      attempt(world, 'olivia: another site sends the form while the page is open', async (browser, code) => {
        await confirmation(browser, code)
        return browser.submit(`${world.targets.issuer}/device`, { user_code: code.user_code, confirm: 'yes', xsrf: 'x' })
      }),
      attempt(world, 'olivia: the form with the secret of gary’s page', async (browser, code) => {
        const gary = await signedIn(world, 'gary')
        const page = await gary.open(`${world.targets.issuer}/device`)
        const xsrf = page.root.querySelector('input[name=xsrf]')?.getAttribute('value') ?? ''
        await browser.open(`${world.targets.issuer}/device`)
        return browser.submit(`${world.targets.issuer}/device`, { user_code: code.user_code, confirm: 'yes', xsrf })
      }),
      attempt(world, 'olivia: confirms, and does not let kubectl act', async (browser, code) =>
        browser.press(await confirmation(browser, code), 'It is my computer'),
      ),
      attempt(world, 'olivia: refuses', async (browser, code) => browser.press(await confirmation(browser, code), 'Refuse')),
      attempt(world, 'a browser that is not signed in opens the link', async (_, code) => {
        const stranger = freshBrowser(world, url => url.origin !== new URL(world.targets.issuer).origin)
        const page = await stranger.open(code.verification_uri_complete)
        await stranger.close()
        return page
      }),
      usedCode(world),
    ],
  },
]
