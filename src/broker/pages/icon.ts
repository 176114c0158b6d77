// The icon of the pages. Without it, browsers request /favicon.ico and log an error.
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<path fill="none" stroke="#9a3324" stroke-width="4" stroke-linecap="round" d="M4 8h24M7 15h18M10 8v20M22 8v20"/>
</svg>
`
