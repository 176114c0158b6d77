// A process of its own that sends bodies nobody should send, so that making and sending them costs the server's event loop nothing.
// Forked by body-doors.ts; one message is one request, the answer says what came of it.
import { createHmac } from 'node:crypto'
import { request } from 'node:https'
import { gzipSync } from 'node:zlib'

export type Shape =
  | { readonly kind: 'padded'; readonly bytes: number }
  | { readonly kind: 'chunked'; readonly bytes: number }
  | { readonly kind: 'deep'; readonly levels: number }
  | { readonly kind: 'prototype' | 'duplicate keys' | 'invalid UTF-8' | 'gzip bomb' }

export type Order = {
  readonly port: number
  readonly path: string
  readonly servername: string
  readonly ca: string
  readonly headers: Readonly<Record<string, string>>
  /** A body that the door would understand: the shapes are built around it. */
  readonly seed: string
  readonly shape: Shape
  /** Signs as GitHub does. */
  readonly webhookSecret?: string
}

export type Result = { readonly status: number; readonly sent: number; readonly problem: string }

const chunk = Buffer.alloc(64 * 1024, 'x')
const mostWait = 20_000

function bodyOf(order: Order): Buffer {
  const { seed, shape } = order
  const open = seed.slice(0, -1)
  const joint = seed === '{}' ? '' : ','
  switch (shape.kind) {
    case 'padded': {
      const frame = `${open}${joint}"padding":[]}`
      // Many small values: what costs a parser most for its bytes.
      const items = Math.max(0, Math.floor((shape.bytes - frame.length) / 12))
      const body = `${open}${joint}"padding":[${Array.from({ length: items }, () => '"aaaaaaaaa"').join(',')}]}`
      return Buffer.from(body.padEnd(shape.bytes, ' '))
    }
    case 'deep':
      return Buffer.from(`${open}${joint}"deep":${'['.repeat(shape.levels)}${']'.repeat(shape.levels)}}`)
    case 'prototype':
      return Buffer.from(`${open}${joint}"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}`)
    case 'duplicate keys':
      return Buffer.from(`${open}${joint}${open.slice(1)}}`)
    case 'invalid UTF-8':
      return Buffer.concat([
        Buffer.from(`${open}${joint}"text":"`),
        Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80]),
        Buffer.from('"}'),
      ])
    case 'gzip bomb':
      return gzipSync(Buffer.alloc(200 * 1024 * 1024, ' '))
    case 'chunked':
      return Buffer.from(open)
  }
}

function send(order: Order): Promise<Result> {
  const { shape } = order
  const body = bodyOf(order)
  const signature = order.webhookSecret && {
    'x-hub-signature-256': `sha256=${createHmac('sha256', order.webhookSecret).update(body).digest('hex')}`,
  }
  const length = shape.kind === 'chunked' ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(body.length) }
  const encoding = shape.kind === 'gzip bomb' ? { 'content-encoding': 'gzip' } : {}
  return new Promise(resolve => {
    let [sent, status, problem] = [0, 0, '']
    const { host: _host, ...rest } = { host: '', ...order.headers }
    const asked = request({
      host: '127.0.0.1',
      port: order.port,
      servername: order.servername,
      ca: order.ca,
      path: order.path,
      method: 'POST',
      agent: false,
      headers: { ...rest, ...length, ...encoding, ...signature },
    })
    const limit = setTimeout(() => asked.destroy(new Error('no end in 20 s')), mostWait)
    const end = (): void => {
      clearTimeout(limit)
      resolve({ status, sent, problem })
    }
    asked.once('response', response => {
      status = response.statusCode ?? 0
      response.resume()
      response.once('end', () => (shape.kind === 'chunked' ? asked.destroy() : end()))
    })
    asked.once('close', end)
    asked.on('error', error => {
      problem = error.message
      end()
    })
    if (shape.kind !== 'chunked') {
      sent = body.length
      asked.end(body)
      return
    }
    const more = (): void => {
      while (!asked.destroyed && sent < shape.bytes) {
        sent += chunk.length
        if (!asked.write(chunk)) {
          asked.once('drain', more)
          return
        }
      }
      if (!asked.destroyed) asked.end()
    }
    asked.write(body)
    more()
  })
}

process.on('message', (message: { readonly id: number; readonly order: Order }) => {
  void send(message.order).then(result => process.send?.({ id: message.id, result }))
})
