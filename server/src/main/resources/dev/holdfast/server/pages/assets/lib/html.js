// What every page draws with: Preact, its hooks, and `html`, the templates of htm.
//
//   import { html, useState } from '../lib/html.js';
//   html`<p class="quiet">${text}</p>`            values are always text, never markup
//   html`<${Part} name=${value}>…<//>`            a part with children
//
// Styles are classes of app.css. Where a number must become a style: style=${{ width: '40%' }} (an object, which the
// Content-Security-Policy allows; a string it does not).
import { h, render, Component, Fragment, createContext, createRef } from '../vendor/preact.js';
import {
  useState, useEffect, useLayoutEffect, useMemo, useRef, useCallback, useContext, useReducer, useId,
} from '../vendor/hooks.js';
import htm from '../vendor/htm.js';

const html = htm.bind(h);

export {
  html, h, render, Component, Fragment, createContext, createRef,
  useState, useEffect, useLayoutEffect, useMemo, useRef, useCallback, useContext, useReducer, useId,
};
