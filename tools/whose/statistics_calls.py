"""The calls of libraries for statistics that the page has, by statistic.

A call is text that is evaluated, so the page shows what was run. In it, ``x`` is the data as the
library takes them (`LIBRARIES` of `data_of.py`); DuckDB's and SQLite's are SQL with a column ``v``.
"""

# ruff: noqa: E501 - a call stands on one line, as the page shows it

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Statistic:
    """A row of the overview.

    Attributes
    ----------
    name : str
        Its heading.
    ours : str or None
        The query of the lab that stands beside calls that are none of its queries.
    calls : tuple of (str, str)
        Library and call.
    """

    name: str
    ours: str | None
    calls: tuple[tuple[str, str], ...]


def _rows(text: str) -> tuple[tuple[str, str], ...]:
    """Return the library and the call of each line."""
    lines = (line.partition(": ") for line in text.strip().splitlines())
    return tuple((library.strip(), call.strip()) for library, _, call in lines)


STATISTICS = (
    Statistic(
        "mean",
        "sl.Mean()",
        _rows("""
            NumPy: np.mean(x)
            NumPy: np.average(x)
            NumPy: np.mean(x.astype(np.float16))
            pandas: x.mean()
            pandas: x.ewm(alpha=0.5).mean().iloc[-1]
            Polars: x.mean()
            Arrow: pc.mean(x)
            DuckDB: avg(v)
            DuckDB: favg(v)
            DuckDB: avg(v::DECIMAL(4, 2))
            SQLite: avg(v)
            Dask: x.mean()
            Dask: frame.mean()
            SciPy: stats.tmean(x)
            SciPy: stats.expectile(x, 0.5)
            SciPy: stats.gmean(x + 1)
            SciPy: stats.hmean(x + 1)
            statsmodels: DescrStatsW(x).mean
            scikit-learn: StandardScaler().fit(column).mean_[0]
            scikit-learn: DummyRegressor().fit(column, x).constant_[0, 0]
            astropy: sigma_clipped_stats(x)[0]
            astropy: sigma_clipped_stats(x, sigma=1)[0]
            astropy: biweight_location(x)
        """),
    ),
    Statistic(
        "median",
        "sl.Median()",
        _rows("""
            NumPy: np.median(x)
            NumPy: np.quantile(x, 0.5, method="inverted_cdf")
            pandas: x.median()
            pandas: x.quantile(0.5, interpolation="nearest")
            Polars: x.median()
            Polars: x.quantile(0.5)
            Arrow: pc.quantile(x, q=0.5)[0]
            Arrow: pc.approximate_median(x)
            DuckDB: median(v)
            DuckDB: median(v::DECIMAL(4, 2))
            DuckDB: quantile_disc(v, 0.5)
            DuckDB: approx_quantile(v, 0.5)
            SQLite: median(v)
            Dask: da.median(x, axis=0)
            Dask: da.percentile(x, 50)
            Dask: frame.median()
            Dask: frame.median_approximate()
            Dask: frame.quantile(0.5)
            SciPy: stats.scoreatpercentile(x, 50)
            SciPy: stats.quantile(x, 0.5)
            SciPy: stats.mstats.hdmedian(x)
            SciPy: stats.mstats.mquantiles(x, 0.5)[0]
            SciPy: ndimage.median(x)
            statsmodels: DescrStatsW(x).quantile(0.5, return_pandas=False)[0]
            scikit-learn: RobustScaler().fit(column).center_[0]
            scikit-learn: SimpleImputer(strategy="median").fit(column).statistics_[0]
            scikit-learn: DummyRegressor(strategy="median").fit(column, x, ones).constant_[0, 0]
            astropy: sigma_clipped_stats(x)[1]
            astropy: sigma_clipped_stats(x, sigma=1)[1]
        """),
    ),
    Statistic(
        "90th percentile",
        "sl.Percentile(90)",
        _rows("""
            NumPy: np.percentile(x, 90)
            NumPy: np.quantile(x, 0.9, weights=ones, method="inverted_cdf")
            pandas: x.quantile(0.9)
            pandas: x.quantile(0.9, interpolation="midpoint")
            pandas: x.quantile(0.9, interpolation="nearest")
            Polars: x.quantile(0.9)
            Polars: x.quantile(0.9, "linear")
            Polars: x.quantile(0.9, "equiprobable")
            Polars: x.quantile(0.9, "midpoint")
            Arrow: pc.quantile(x, q=0.9)[0]
            Arrow: pc.quantile(x, q=0.9, interpolation="nearest")[0]
            Arrow: pc.tdigest(x, q=0.9)[0]
            DuckDB: quantile_cont(v, 0.9)
            DuckDB: quantile_disc(v, 0.9)
            DuckDB: quantile(v, 0.9)
            DuckDB: percentile_cont(0.9) WITHIN GROUP (ORDER BY v)
            DuckDB: approx_quantile(v, 0.9)
            DuckDB: reservoir_quantile(v, 0.9)
            SQLite: percentile(v, 90)
            SQLite: percentile_disc(v, 0.9)
            Dask: da.percentile(x, 90)
            Dask: da.percentile(x, 90, method="nearest")
            Dask: da.percentile(x, 90, internal_method="tdigest")
            Dask: da.quantile(x, 0.9)
            Dask: frame.quantile(0.9)
            Dask: frame.quantile(0.9, method="tdigest")
            SciPy: stats.scoreatpercentile(x, 90)
            SciPy: stats.mstats.scoreatpercentile(x, 90)
            SciPy: stats.quantile(x, 0.9)
            SciPy: stats.quantile(x, 0.9, method="harrell-davis")
            SciPy: stats.mstats.mquantiles(x, 0.9)[0]
            SciPy: stats.mstats.hdquantiles(x, [0.9])[0]
            statsmodels: DescrStatsW(x).quantile(0.9, return_pandas=False)[0]
            statsmodels: describe(x).loc["90%"].iloc[0]
            scikit-learn: DummyRegressor(strategy="quantile", quantile=0.9).fit(column, x).constant_[0, 0]
            scikit-learn: DummyRegressor(strategy="quantile", quantile=0.9).fit(column, x, ones).constant_[0, 0]
        """),
    ),
    Statistic(
        "variance",
        "sl.Var(ddof=1)",
        _rows("""
            NumPy: np.var(x)
            NumPy: np.cov(x)
            NumPy: np.ma.var(x)
            pandas: x.var()
            pandas: x.to_frame().cov().iloc[0, 0]
            Polars: x.var()
            Arrow: pc.variance(x)
            DuckDB: variance(v)
            DuckDB: var_pop(v)
            DuckDB: covar_pop(v, v)
            SQLite: avg(v * v) - avg(v) * avg(v)
            Dask: x.var()
            Dask: da.cov(x)
            Dask: frame.var()
            SciPy: stats.tvar(x)
            SciPy: stats.kstat(x, 2)
            SciPy: stats.describe(x).variance
            SciPy: stats.mstats.trimmed_var(x, (0.25, 0.25))
            SciPy: stats.moment(x, 2)
            SciPy: ndimage.variance(x)
            statsmodels: DescrStatsW(x).var
            statsmodels: TrimmedMean(x, 0.25).var_winsorized
            scikit-learn: StandardScaler().fit(column).var_[0]
            scikit-learn: EmpiricalCovariance().fit(column).covariance_[0, 0]
            scikit-learn: PCA().fit(column).explained_variance_[0]
            astropy: biweight_midvariance(x)
        """),
    ),
    Statistic(
        "standard deviation",
        "sl.Std(ddof=1)",
        _rows("""
            NumPy: np.std(x)
            pandas: x.std()
            pandas: x.describe()["std"]
            Polars: x.std()
            Arrow: pc.stddev(x)
            DuckDB: stddev(v)
            DuckDB: stddev_pop(v)
            SQLite: stddev(v)
            Dask: x.std()
            Dask: frame.std()
            SciPy: stats.tstd(x)
            SciPy: stats.gstd(x + 1)
            SciPy: stats.variation(x + 1)
            SciPy: stats.mstats.trimmed_std(x, (0.25, 0.25))
            SciPy: ndimage.standard_deviation(x)
            statsmodels: DescrStatsW(x).std
            statsmodels: describe(x).loc["std"].iloc[0]
            scikit-learn: StandardScaler().fit(column).scale_[0]
            astropy: sigma_clipped_stats(x)[2]
            astropy: sigma_clipped_stats(x, sigma=1)[2]
            astropy: mad_std(x)
            astropy: biweight_scale(x)
        """),
    ),
    Statistic(
        "standard error of the mean",
        "sl.Std(ddof=1) / sqrt(n)",
        _rows("""
            pandas: x.sem()
            DuckDB: sem(v)
            Dask: frame.sem()
            SciPy: stats.sem(x)
            SciPy: stats.tsem(x)
            SciPy: stats.mstats.sem(x)
            SciPy: stats.mstats.trimmed_stde(x, (0.25, 0.25))
            SciPy: stats.bootstrap((x,), np.mean, n_resamples=50, rng=0).standard_error
            statsmodels: DescrStatsW(x).std_mean
            statsmodels: describe(x).loc["std_err"].iloc[0]
            statsmodels: TrimmedMean(x, 0.25).std_mean_trimmed
            astropy: jackknife_stats(x, np.mean)[2]
        """),
    ),
    Statistic(
        "median absolute deviation",
        None,
        _rows("""
            DuckDB: mad(v)
            DuckDB: mad(v::DECIMAL(4, 2))
            SciPy: stats.median_abs_deviation(x)
            SciPy: stats.median_abs_deviation(x, scale="normal")
            statsmodels: scale.mad(x)
            statsmodels: scale.qn_scale(x)
            statsmodels: describe(x).loc["mad"].iloc[0]
            scikit-learn: median_absolute_error(x, np.full(len(x), np.median(x)))
            astropy: median_absolute_deviation(x)
            astropy: mad_std(x)
        """),
    ),
    Statistic(
        "interquartile range",
        "sl.InterquartileRange()",
        _rows("""
            NumPy: np.subtract(*np.percentile(x, [75, 25]))
            pandas: x.quantile(0.75) - x.quantile(0.25)
            Polars: x.quantile(0.75) - x.quantile(0.25)
            Arrow: pc.subtract(pc.quantile(x, q=0.75)[0], pc.quantile(x, q=0.25)[0])
            DuckDB: quantile_cont(v, 0.75) - quantile_cont(v, 0.25)
            DuckDB: quantile_disc(v, 0.75) - quantile_disc(v, 0.25)
            Dask: frame.quantile(0.75) - frame.quantile(0.25)
            SciPy: stats.iqr(x)
            SciPy: stats.iqr(x, scale="normal")
            SciPy: stats.mstats.idealfourths(x)[1] - stats.mstats.idealfourths(x)[0]
            statsmodels: scale.iqr(x)
            statsmodels: describe(x).loc["iqr"].iloc[0]
            statsmodels: describe(x).loc["iqr_normal"].iloc[0]
            scikit-learn: RobustScaler().fit(column).scale_[0]
        """),
    ),
    Statistic(
        "trimmed mean",
        "sl.TrimmedMean(Fraction(1, 4))",
        _rows("""
            SciPy: stats.trim_mean(x, 0.25)
            SciPy: stats.mstats.trimmed_mean(x, (0.25, 0.25))
            SciPy: stats.mstats.trimmed_mean(x, (0.25, 0.25), inclusive=(False, False))
            SciPy: stats.trimboth(x, 0.25).mean()
            SciPy: stats.trim1(x, 0.25).mean()
            statsmodels: TrimmedMean(x, 0.25).mean_trimmed
            Polars: x.sort()[len(x) // 4 : -(len(x) // 4) or None].mean()
        """),
    ),
    Statistic(
        "winsorized mean",
        "sl.WinsorizedMean(Fraction(1, 4))",
        _rows("""
            SciPy: stats.mstats.winsorize(x, (0.25, 0.25)).mean()
            SciPy: stats.mstats.winsorize(x, (0.25, 0.25), inclusive=(False, False)).mean()
            statsmodels: TrimmedMean(x, 0.25).mean_winsorized
            pandas: x.clip(x.quantile(0.25), x.quantile(0.75)).mean()
            Polars: x.clip(x.quantile(0.25), x.quantile(0.75)).mean()
        """),
    ),
    Statistic(
        "skewness",
        None,
        _rows("""
            pandas: x.skew()
            Polars: x.skew()
            Polars: x.skew(bias=False)
            Arrow: pc.skew(x)
            Arrow: pc.skew(x, biased=False)
            DuckDB: skewness(v)
            Dask: da_stats.skew(x)
            Dask: frame.skew()
            SciPy: stats.skew(x)
            SciPy: stats.skew(x, bias=False)
            SciPy: stats.mstats.skew(x)
            statsmodels: describe(x).loc["skew"].iloc[0]
            statsmodels: robust_skewness(x)[1]
            statsmodels: medcouple(x)
        """),
    ),
    Statistic(
        "kurtosis",
        None,
        _rows("""
            pandas: x.kurt()
            Polars: x.kurtosis()
            Polars: x.kurtosis(fisher=False)
            Arrow: pc.kurtosis(x)
            DuckDB: kurtosis(v)
            DuckDB: kurtosis_pop(v)
            Dask: da_stats.kurtosis(x)
            Dask: frame.kurtosis()
            SciPy: stats.kurtosis(x)
            SciPy: stats.kurtosis(x, bias=False)
            SciPy: stats.mstats.kurtosis(x)
            statsmodels: describe(x).loc["kurtosis"].iloc[0]
            statsmodels: robust_kurtosis(x)[0]
            statsmodels: robust_kurtosis(x)[1]
        """),
    ),
    Statistic(
        "mode",
        None,
        _rows("""
            NumPy: (lambda v, c: v[c.argmax()])(*np.unique(x, return_counts=True))
            pandas: x.mode()[0]
            pandas: x.value_counts().index[0]
            Polars: x.mode().min()
            Arrow: pc.mode(x)[0]["mode"]
            DuckDB: mode(v)
            Dask: frame.mode().compute().iloc[0]
            SciPy: stats.mode(x).mode
            SciPy: stats.mstats.mode(x).mode[0]
            statsmodels: describe(x).loc["mode"].iloc[0]
            scikit-learn: SimpleImputer(strategy="most_frequent").fit(column).statistics_[0]
            scikit-learn: DummyClassifier().fit(column, np.rint(4 * x)).predict(column)[0] / 4
            astropy: 3 * np.median(x) - 2 * np.mean(x)
        """),
    ),
    Statistic(
        "distinct values",
        "sl.CountDistinct()",
        _rows("""
            NumPy: len(np.unique(x))
            pandas: x.nunique()
            Polars: x.n_unique()
            Polars: x.approx_n_unique()
            Arrow: pc.count_distinct(x)
            DuckDB: count(DISTINCT v)
            DuckDB: approx_count_distinct(v)
            SQLite: count(DISTINCT v)
            Dask: len(da.unique(x).compute())
            Dask: frame.nunique()
            Dask: frame.nunique_approx()
        """),
    ),
    Statistic(
        "smallest and largest",
        "sl.Range()",
        _rows("""
            NumPy: np.ptp(x)
            pandas: x.max() - x.min()
            Polars: x.max() - x.min()
            Arrow: pc.subtract(pc.max(x), pc.min(x))
            DuckDB: max(v) - min(v)
            SQLite: max(v) - min(v)
            Dask: da.ptp(x)
            statsmodels: describe(x).loc["range"].iloc[0]
            scikit-learn: MinMaxScaler().fit(column).data_range_[0]
            scikit-learn: MaxAbsScaler().fit(column).max_abs_[0]
            SciPy: stats.tmax(x)
        """),
    ),
    Statistic(
        "median of a quantile sketch",
        "sl.Median()",
        _rows("""
            ddsketch: DDSketch(0.01)
            ddsketch: LogCollapsingLowestDenseDDSketch(0.01)
            tdigest: TDigest()
            crick: crick.TDigest()
            datasketches: kll_doubles_sketch(200)
            datasketches: req_floats_sketch(12)
            datasketches: quantiles_doubles_sketch(128)
            datasketches: tdigest_double(100)
            Arrow: pc.tdigest(x, q=0.5)[0]
            DuckDB: approx_quantile(v, 0.5)
            DuckDB: reservoir_quantile(v, 0.5)
            Dask: da.percentile(x, 50, internal_method="tdigest")
        """),
    ),
    Statistic(
        "slope against the place of the record",
        None,
        _rows("""
            NumPy: np.polyfit(np.arange(len(x)), x, 1)[0]
            DuckDB: regr_slope(v, place)
            SciPy: stats.linregress(np.arange(len(x)), x).slope
            SciPy: stats.theilslopes(x).slope
            SciPy: stats.siegelslopes(x).slope
            SciPy: stats.siegelslopes(x, method="separate").slope
            SciPy: stats.mstats.theilslopes(x)[0]
            SciPy: stats.mstats.sen_seasonal_slopes(x[:, None])[1]
            statsmodels: RLM(x, line).fit().params[1]
            statsmodels: QuantReg(x, line).fit().params[1]
            scikit-learn: TheilSenRegressor(random_state=0).fit(places, x).coef_[0]
            scikit-learn: HuberRegressor().fit(places, x).coef_[0]
        """),
    ),
)
