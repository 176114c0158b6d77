// A person's browser as an HTTP client: cookies, redirects, links and forms found by their visible text. No JavaScript: the pages need none.
// It sends what a form holds (hidden fields, ticked boxes, the pressed button), as the HTML standard says, and nothing else.
import { type HTMLElement, parse } from 'node-html-parser'
import { CookieJar } from 'tough-cookie'
import { Agent, request } from 'undici'

export type Page = { readonly url: URL; readonly status: number; readonly html: string; readonly root: HTMLElement }

/** What a person changes in a form before pressing the button: texts and choices by field name; boxes by field name and values. */
export type FormInput = { readonly [field: string]: string | readonly string[] }

export class Browser {
  readonly #jar = new CookieJar()
  readonly #agent: Agent
  readonly #stopAt: ((url: URL) => boolean) | undefined

  /** `certificateAuthority` is trusted for https; `stopAt` ends a chain of redirects (an own loopback callback, for instance). */
  constructor(options: { readonly certificateAuthority?: string; readonly stopAt?: (url: URL) => boolean } = {}) {
    this.#agent = new Agent({ connect: options.certificateAuthority === undefined ? {} : { ca: options.certificateAuthority } })
    this.#stopAt = options.stopAt
  }

  open(url: string | URL): Promise<Page> {
    return this.#navigate('GET', new URL(url))
  }

  /** Follows the link whose text contains `text`. */
  follow(page: Page, text: string): Promise<Page> {
    const link = page.root.querySelectorAll('a[href]').find(anchor => visibleText(anchor).includes(text))
    if (link === undefined) throw new Error(`no link "${text}" on ${page.url.pathname}: ${summary(page)}`)
    return this.#navigate('GET', new URL(link.getAttribute('href') ?? '', page.url))
  }

  /** Presses the button whose text contains `button`, after filling in its form. */
  press(page: Page, button: string, input: FormInput = {}): Promise<Page> {
    for (const form of page.root.querySelectorAll('form')) {
      const pressed = form
        .querySelectorAll('button, input[type=submit]')
        .find(candidate => visibleText(candidate).includes(button))
      if (pressed === undefined) continue
      const body = formBody(form, pressed, input)
      const action = new URL(form.getAttribute('action') ?? '', page.url)
      if ((form.getAttribute('method') ?? 'get').toLowerCase() === 'post') return this.#navigate('POST', action, body)
      action.search = body.toString()
      return this.#navigate('GET', action)
    }
    throw new Error(`no button "${button}" on ${page.url.pathname}: ${summary(page)}`)
  }

  async #navigate(method: 'GET' | 'POST', url: URL, body?: URLSearchParams): Promise<Page> {
    let [current, verb, payload] = [url, method, body]
    for (let hops = 0; hops < 20; hops++) {
      if (this.#stopAt?.(current)) return pageOf(current, 0, '')
      const response = await request(current, {
        method: verb,
        dispatcher: this.#agent,
        headers: {
          accept: 'text/html',
          cookie: await this.#jar.getCookieString(current.href),
          ...(payload === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded', origin: current.origin }),
        },
        ...(payload === undefined ? {} : { body: payload.toString() }),
      })
      for (const cookie of [response.headers['set-cookie'] ?? []].flat()) await this.#jar.setCookie(cookie, current.href)
      const text = await response.body.text()
      const location = response.headers['location']
      if (response.statusCode < 300 || response.statusCode >= 400 || typeof location !== 'string')
        return pageOf(current, response.statusCode, text)
      current = new URL(location, current)
      if (response.statusCode !== 307 && response.statusCode !== 308) [verb, payload] = ['GET', undefined]
    }
    throw new Error(`too many redirects from ${url.origin}${url.pathname}`)
  }

  close(): Promise<void> {
    return this.#agent.close()
  }
}

function pageOf(url: URL, status: number, html: string): Page {
  return { url, status, html, root: parse(html) }
}

function visibleText(element: HTMLElement): string {
  return (element.text.trim() || element.getAttribute('value') || element.getAttribute('aria-label') || '').replace(/\s+/g, ' ')
}

/** The page in one line, for error messages. */
export function summary(page: Page): string {
  const text = (page.root.querySelector('main') ?? page.root.querySelector('body') ?? page.root).text.replace(/\s+/g, ' ').trim()
  return `HTTP ${page.status} "${text.slice(0, 300)}"`
}

function formBody(form: HTMLElement, pressed: HTMLElement, input: FormInput): URLSearchParams {
  const body = new URLSearchParams()
  for (const field of form.querySelectorAll('input, select, textarea')) {
    const name = field.getAttribute('name')
    const type = field.getAttribute('type') ?? 'text'
    if (name === undefined || type === 'submit' || field.hasAttribute('disabled')) continue
    const value = field.getAttribute('value') ?? (field.tagName === 'TEXTAREA' ? field.text : type === 'checkbox' ? 'on' : '')
    const wanted = input[name]
    if (type === 'checkbox' || type === 'radio') {
      const ticked = wanted === undefined ? field.hasAttribute('checked') : [wanted].flat().includes(value)
      if (ticked) body.append(name, value)
    } else if (field.tagName === 'SELECT') {
      const options = field.querySelectorAll('option')
      const chosen =
        wanted ?? (options.find(option => option.hasAttribute('selected')) ?? options[0])?.getAttribute('value') ?? ''
      for (const item of [chosen].flat()) body.append(name, item)
    } else {
      for (const item of [wanted ?? value].flat()) body.append(name, item)
    }
  }
  const name = pressed.getAttribute('name')
  if (name !== undefined) body.append(name, pressed.getAttribute('value') ?? '')
  return body
}

/** Whether the page offers a button or link with this text. */
export function offers(page: Page, text: string): boolean {
  return page.root.querySelectorAll('button, input[type=submit], a[href]').some(element => visibleText(element).includes(text))
}
