// Delays, slows and cuts off responses. It works on the raw response, so that it applies to REST, pages and git alike, and
// never reads the content.
import type { ServerResponse } from 'node:http'

/** Resolves after the time, or as soon as the client has disconnected. */
export function pause(milliseconds: number, response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    const done = (): void => {
      clearTimeout(timer)
      response.off('close', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    response.once('close', done)
  })
}

type Line = {
  /** Handles one chunk of the body; `write` resolves when it was passed to the socket. */
  readonly chunk: (chunk: Buffer, write: (chunk: Buffer) => Promise<void>) => Promise<void>
  /** Handles the end of the body. */
  readonly end: (finish: () => void) => Promise<void>
}

function asBuffer(chunk: unknown): Buffer | undefined {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk instanceof Uint8Array ? Buffer.from(chunk) : undefined
}

/** Puts `line` between the handler and the socket. Chunks wait in memory; their order is kept. */
function putBetween(response: ServerResponse, line: Line): void {
  const [write, end] = [response.write.bind(response), response.end.bind(response)]
  const writeOne = (chunk: Buffer): Promise<void> =>
    new Promise(resolve => (response.destroyed ? resolve() : write(chunk, () => resolve())))
  let queue = Promise.resolve()
  const then = (step: () => Promise<void>): void => {
    queue = queue.then(() => (response.destroyed ? undefined : step())).catch(() => void response.destroy())
  }
  const take = (given: unknown): void => {
    const chunk = asBuffer(given)
    if (chunk && chunk.length > 0) then(() => line.chunk(chunk, writeOne))
  }
  Object.assign(response, {
    write: (chunk: unknown): boolean => {
      take(chunk)
      return true
    },
    end: (chunk?: unknown): ServerResponse => {
      take(chunk)
      then(() => line.end(() => void end()))
      return response
    },
  })
}

/** Delays the whole response. */
export function delayAnswer(response: ServerResponse, milliseconds: number): void {
  let waited = false
  const wait = async (): Promise<void> => {
    if (!waited) await pause(milliseconds, response)
    waited = true
  }
  putBetween(response, {
    chunk: async (chunk, write) => {
      await wait()
      await write(chunk)
    },
    end: async finish => {
      await wait()
      finish()
    },
  })
}

/** Ten pieces a second at most; one byte at least. */
export function slowBody(response: ServerResponse, bytesPerSecond: number): void {
  const size = Math.max(1, Math.floor(bytesPerSecond / 10))
  const every = (size / bytesPerSecond) * 1000
  putBetween(response, {
    chunk: async (chunk, write) => {
      for (let at = 0; at < chunk.length && !response.destroyed; at += size) {
        await write(chunk.subarray(at, at + size))
        await pause(every, response)
      }
    },
    end: async finish => finish(),
  })
}

/** Resets the connection; the client sees ECONNRESET. */
export function resetConnection(response: ServerResponse): void {
  response.socket?.resetAndDestroy()
}

/** Resets the connection when the response is complete, that is after the request has had its effect; sends nothing of it. */
export function resetAfterwards(response: ServerResponse): void {
  putBetween(response, { chunk: async () => undefined, end: async () => resetConnection(response) })
}

/** Sends the headers and the first `bytes` of the body, then resets the connection. */
export function resetDuring(response: ServerResponse, bytes: number): void {
  let left = bytes
  const cut = async (): Promise<void> => {
    response.flushHeaders()
    // What was written must reach the socket first; the reset would discard it.
    await pause(20, response)
    resetConnection(response)
  }
  putBetween(response, {
    chunk: async (chunk, write) => {
      if (left > 0) await write(chunk.subarray(0, left))
      left -= chunk.length
      if (left <= 0) await cut()
    },
    end: cut,
  })
}
