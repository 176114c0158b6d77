// A user's browser as an HTTP client: cookies, redirects, links and forms found by their visible text. It runs no JavaScript,
// because the pages need none, and sends exactly what the HTML standard says a form submits (hidden fields, ticked boxes, the
// pressed button).
import { type HTMLElement, parse } from 'node-html-parser'
import { CookieJar } from 'tough-cookie'
import { Agent, type Dispatcher, request } from 'undici'

export type Page = { readonly url: URL; readonly status: number; readonly html: string; readonly root: HTMLElement }

/**
 * What the user changes in a form before pressing the button: texts and choices by field name, check boxes by field name and
 * values.
 */
export type FormInput = { readonly [field: string]: string | readonly string[] }

export class Browser {
  readonly #jar = new CookieJar()
  readonly #agent: Agent
  readonly #stopAt: ((url: URL) => boolean) | undefined

  /** `certificateAuthority` is trusted for https; `stopAt` ends a chain of redirects, for example at a loopback callback. */
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

  /** Sends a form that no page offered, as another site or a person who changes the page can. */
  submit(url: string | URL, fields: Readonly<Record<string, string>>): Promise<Page> {
    return this.#navigate('POST', new URL(url), new URLSearchParams(fields))
  }

  async #navigate(method: 'GET' | 'POST', url: URL, body?: URLSearchParams): Promise<Page> {
    let [current, verb, payload] = [url, method, body]
    for (let hops = 0; hops < 20; hops++) {
      if (this.#stopAt?.(current)) return pageOf(current, 0, '')
      const response = await this.#request(verb, current, payload)
      const text = await response.body.text()
      const next = redirectOf(response)
      if (next === undefined) return pageOf(current, response.statusCode, text)
      current = new URL(next, current)
      if (response.statusCode !== 307 && response.statusCode !== 308) [verb, payload] = ['GET', undefined]
    }
    throw new Error(`too many redirects from ${url.origin}${url.pathname}`)
  }

  async #request(method: 'GET' | 'POST', url: URL, body: URLSearchParams | undefined): Promise<Dispatcher.ResponseData> {
    const response = await request(url, {
      method,
      dispatcher: this.#agent,
      headers: {
        accept: 'text/html',
        cookie: await this.#jar.getCookieString(url.href),
        ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded', origin: url.origin }),
      },
      ...(body === undefined ? {} : { body: body.toString() }),
    })
    for (const cookie of [response.headers['set-cookie'] ?? []].flat()) await this.#jar.setCookie(cookie, url.href)
    return response
  }

  close(): Promise<void> {
    return this.#agent.close()
  }
}

/** The target of a redirect; undefined for a response that is not a redirect. */
function redirectOf({ statusCode, headers }: Dispatcher.ResponseData): string | undefined {
  const { location } = headers
  return statusCode >= 300 && statusCode < 400 && typeof location === 'string' ? location : undefined
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

/** What the form submits: its fields as the page filled them, with the user's changes, and the pressed button. */
function formBody(form: HTMLElement, pressed: HTMLElement, input: FormInput): URLSearchParams {
  const body = new URLSearchParams()
  for (const field of form.querySelectorAll('input, select, textarea')) {
    const name = field.getAttribute('name')
    if (name === undefined || field.getAttribute('type') === 'submit' || field.hasAttribute('disabled')) continue
    for (const value of valuesOf(field, input[name])) body.append(name, value)
  }
  const name = pressed.getAttribute('name')
  if (name !== undefined) body.append(name, pressed.getAttribute('value') ?? '')
  return body
}

/** What one field submits; `wanted` is the user's change, if any. */
function valuesOf(field: HTMLElement, wanted: string | readonly string[] | undefined): readonly string[] {
  const type = field.getAttribute('type') ?? 'text'
  if (type === 'checkbox' || type === 'radio') {
    const value = field.getAttribute('value') ?? 'on'
    const ticked = wanted === undefined ? field.hasAttribute('checked') : [wanted].flat().includes(value)
    return ticked ? [value] : []
  }
  return [wanted ?? shownValue(field)].flat()
}

function shownValue(field: HTMLElement): string {
  if (field.tagName === 'SELECT') {
    const options = field.querySelectorAll('option')
    return (options.find(option => option.hasAttribute('selected')) ?? options[0])?.getAttribute('value') ?? ''
  }
  return field.getAttribute('value') ?? (field.tagName === 'TEXTAREA' ? field.text : '')
}

/** Whether the page has a button or link with this text. */
export function offers(page: Page, text: string): boolean {
  return page.root.querySelectorAll('button, input[type=submit], a[href]').some(element => visibleText(element).includes(text))
}
